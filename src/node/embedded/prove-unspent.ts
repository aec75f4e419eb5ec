import { outputTrieChanges } from '../../ledger/state-root.ts'
import { emptyTrieRoot, leafRoot, nodeRoot } from '../../ledger/trie.ts'
import {
  digitAt,
  hasChild,
  isBranchPage,
  siblingsInPage,
  triePath,
} from '../../ledger/trie-page.ts'
import { present } from '../../lib/assert.ts'
import { bytesToHex, type Hex } from '../../lib/hex.ts'
import type { Network } from '../../protocol/network.ts'
import type { OutputId } from '../../protocol/primitives.ts'
import type { StoreReader } from '../../store/contract.ts'
import type { CommittedRoots, UnspentProof } from '../unspent-proofs.ts'
import { readRootInputs, rootsOf } from './snapshot-head.ts'
import { pageBelow, topPage } from './stored-tries.ts'

/** Proves with hashes that an output is unspent in the newest commitment (ledger reference 11.2). */

/** Reads all ids that the newest slot accepted. Returns `undefined` when the roots are unknown or differ from the commitment. */
export async function newestRoots(
  read: StoreReader,
  network: Network,
): Promise<CommittedRoots | undefined> {
  const known = await readRootInputs(read, network)
  const roots = known && rootsOf(network, known)
  if (known === undefined || roots === undefined) return undefined
  const { commitmentId, bytes } = known.milestone
  return { commitmentId, commitment: bytesToHex(bytes), roots }
}

/**
 * Reads a proof, one trie page per hexadecimal digit of the path. Returns `undefined` when the output is not unspent in that
 * commitment. All reads must come from one snapshot; returns `NOT_READY` when they did not.
 */
export async function proveUnspent(
  read: Pick<StoreReader, 'triePages'>,
  committed: CommittedRoots,
  outputId: OutputId,
): Promise<UnspentProof | 'NOT_READY' | undefined> {
  const path = triePath(outputId)
  const beside = await besideOf(read, path)
  if (beside === undefined) return undefined
  if (rootFrom(outputId, path, beside) !== committed.roots[2]) return 'NOT_READY'
  return { ...committed, beside: beside.map(bytesToHex) }
}

/** The roots of the subtrees beside the path; `undefined` when the trie does not have the path. */
async function besideOf(
  read: Pick<StoreReader, 'triePages'>,
  path: Uint8Array,
): Promise<readonly Uint8Array[] | undefined> {
  const beside: Uint8Array[] = []
  let id = topPage('outputs')
  for (let depth = 0; ; depth++) {
    const [page] = await read.triePages([id])
    const subtrees = page && siblingsInPage(page.bytes, path, depth)
    if (page === undefined || subtrees === undefined) return undefined
    beside.push(...subtrees.map((subtree) => subtree?.root ?? emptyTrieRoot))
    if (!isBranchPage(page.bytes)) return untilAlone(beside)
    const digit = digitAt(path, depth)
    if (!hasChild(page.bytes, digit)) return undefined
    id = pageBelow(id, digit)
  }
}

/** Removes the empty subtrees at the end: the trie has an entry at the depth where it is alone, and pages may be deeper. */
function untilAlone(beside: readonly Uint8Array[]): readonly Uint8Array[] {
  const last = beside.findLastIndex((root) => root.some((byte) => byte !== 0))
  return beside.slice(0, last + 1)
}

function rootFrom(outputId: OutputId, path: Uint8Array, beside: readonly Uint8Array[]): Hex {
  const value = outputTrieChanges({ created: [outputId], consumed: [] }).get(outputId)
  let root = leafRoot(path, present(value, 'the value of an unspent output'))
  for (let depth = beside.length - 1; depth >= 0; depth--) {
    const other = present(beside[depth], 'a subtree beside the path')
    const isRight = ((path[depth >> 3] ?? 0) & (0x80 >> (depth & 7))) !== 0
    root = isRight ? nodeRoot(other, root) : nodeRoot(root, other)
  }
  return bytesToHex(root)
}
