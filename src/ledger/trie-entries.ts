import type { Hex } from '../lib/hex.ts'
import type { AccountId, OutputId } from '../protocol/primitives.ts'
import { type AccountEntry, accountTrieChanges } from './accounts.ts'
import { outputTrieChanges } from './state-root.ts'
import type { KeyValue } from './trie-pass.ts'

/** The entries of the tries behind the state root and the account root (ledger reference 11.2), for tries that are built as a whole. */

/** Yields the entries of unspent outputs in the trie behind the state root. */
export function outputEntries(ids: readonly OutputId[]): Iterable<KeyValue> {
  return entriesOf(outputTrieChanges({ created: ids, consumed: [] }))
}

/** Yields the entries of accounts in the trie behind the account root. An account without an entry has none in the trie. */
export function accountEntries(
  accounts: readonly { readonly accountId: AccountId; readonly entry: AccountEntry | undefined }[],
): Iterable<KeyValue> {
  return entriesOf(accountTrieChanges(accounts.map(({ accountId, entry }) => [accountId, entry])))
}

function* entriesOf(changes: ReadonlyMap<Hex, Uint8Array | undefined>): Generator<KeyValue> {
  for (const [key, value] of changes) if (value !== undefined) yield [key, value]
}
