import { parentPort, workerData } from 'node:worker_threads'
import { outputEntries } from '../../ledger/trie-entries.ts'
import { createTrieRoot, type TrieRoot } from '../../ledger/trie-root.ts'
import { present } from '../../lib/assert.ts'
import type { Hex } from '../../lib/hex.ts'
import type { OutputId } from '../../protocol/primitives.ts'
import { isProven } from './check-snapshot.ts'
import { parsePart, splitLine } from './snapshot-format.ts'

/** The worker thread of `proof-thread.ts`: answers each request in order. */

export interface ProofOptions {
  /** Whether the content of each output is checked against its proof. */
  readonly withProofs: boolean
  /** Whether the lines contain all outputs of the snapshot. If not, `ids` requests after the last line deliver the outputs. */
  readonly isWhole: boolean
  /** Maximum number of trie entries in memory; `undefined` for the usual number. */
  readonly maxEntries: number | undefined
}

/** A line with outputs, some output ids, or the end of the outputs. */
export type ProofRequest =
  | { readonly line: string }
  | { readonly ids: readonly OutputId[] }
  | { readonly end: true }

export interface ProofResponse {
  /** The first output of the line whose proof fails. */
  readonly unproved?: OutputId | undefined
  /** The state root; `undefined` if the ids of all outputs have to be sent again. */
  readonly root?: Hex | undefined
}

const port = present(parentPort, 'the port of a worker thread')
const { withProofs, isWhole, maxEntries }: ProofOptions = workerData
const trie: TrieRoot = createTrieRoot(maxEntries)
let isComplete = isWhole
let former: Promise<unknown> = Promise.resolve()

port.on('message', (request: ProofRequest) => {
  former = former.then(async () => port.postMessage(await answerTo(request)))
})

async function answerTo(request: ProofRequest): Promise<ProofResponse> {
  if ('line' in request) return takeLine(request.line)
  if ('ids' in request) {
    await trie.add(outputEntries(request.ids))
    return {}
  }
  const root = isComplete ? await trie.end() : undefined
  isComplete = true
  return { root }
}

async function takeLine(line: string): Promise<ProofResponse> {
  const part = parsePart(splitLine(line)?.text ?? '')
  // The last line has no outputs. It is requested when the sum of the outputs is wrong.
  if (part?.section !== 'outputs') return {}
  if (isWhole) await trie.add(outputEntries(part.rows.map(({ outputId }) => outputId)))
  return { unproved: withProofs ? part.rows.find((row) => !isProven(row))?.outputId : undefined }
}
