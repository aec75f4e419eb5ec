import { expect, test } from 'vitest'
import { outputTrieChanges } from '../../src/ledger/state-root.ts'
import { emptyTrie, trieRoot, updateTrie } from '../../src/ledger/trie.ts'
import { bytesToHex } from '../../src/lib/hex.ts'
import { OutputId } from '../../src/protocol/primitives.ts'
import { parsed } from '../support/parsed.ts'

const [first, second, third] = ['11', '22', '33'].map((pair) =>
  parsed(OutputId, `0x${pair.repeat(32)}050000000000`),
) as [OutputId, OutputId, OutputId]

test('the state root covers the unspent outputs, regardless of the slots that created them', () => {
  const slot = (created: OutputId[], consumed: OutputId[]) =>
    outputTrieChanges({ created, consumed })
  const atOnce = updateTrie(emptyTrie, slot([first], []))
  const before = updateTrie(emptyTrie, slot([first, second], []))
  const after = updateTrie(before, slot([third], [second, third]))
  expect(bytesToHex(trieRoot(after))).toBe(bytesToHex(trieRoot(atOnce)))
  expect(bytesToHex(trieRoot(before))).not.toBe(bytesToHex(trieRoot(atOnce)))
})
