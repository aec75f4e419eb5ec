import { parentPort, workerData } from 'node:worker_threads'
import { createTrieRoot, type TrieRoot } from '../../ledger/trie-root.ts'
import { present } from '../../lib/assert.ts'
import type { Hex } from '../../lib/hex.ts'
import type { OutputId } from '../../protocol/primitives.ts'
import { isProven, outputEntries } from './check-snapshot.ts'
import { parsePart, splitLine } from './snapshot-format.ts'

/** The thread of `proof-thread.ts`: one answer for each request, in their order. */

/** What the thread is started with. */
export interface ProofOptions {
  /** Whether what an output contains is held against its proof. */
  readonly withProofs: boolean
  /** Whether all outputs of the snapshot come in lines; else they are given by their ids, once the lines have ended. */
  readonly isWhole: boolean
  /** The most entries of the trie in memory; `undefined` for the usual number. */
  readonly mostEntries: number | undefined
}

/** A line with outputs, ids of outputs one after another, or the end of all of them. */
export type ProofRequest =
  | { readonly line: string }
  | { readonly ids: readonly OutputId[] }
  | { readonly end: true }

/** What was found out. */
export interface ProofAnswer {
  /** The first output of the line that is not proved. */
  readonly unproved?: OutputId | undefined
  /** The state root; `undefined` as long as the ids of all outputs are to be given again. */
  readonly root?: Hex | undefined
}

const port = present(parentPort, 'the port of a worker thread')
const { withProofs, isWhole, mostEntries }: ProofOptions = workerData
const trie: TrieRoot = createTrieRoot(mostEntries)
let isComplete = isWhole
let former: Promise<unknown> = Promise.resolve()

port.on('message', (request: ProofRequest) => {
  former = former.then(async () => port.postMessage(await answerTo(request)))
})

async function answerTo(request: ProofRequest): Promise<ProofAnswer> {
  if ('line' in request) return takeLine(request.line)
  if ('ids' in request) {
    await trie.add(outputEntries(request.ids))
    return {}
  }
  const root = isComplete ? await trie.end() : undefined
  isComplete = true
  return { root }
}

async function takeLine(line: string): Promise<ProofAnswer> {
  const part = parsePart(splitLine(line)?.text ?? '')
  // The end of a snapshot is asked about where the sum is wrong.
  if (part?.section !== 'outputs') return {}
  if (isWhole) await trie.add(outputEntries(part.rows.map(({ outputId }) => outputId)))
  return { unproved: withProofs ? part.rows.find((row) => !isProven(row))?.outputId : undefined }
}
