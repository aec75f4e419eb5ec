import { accountTrieChanges } from '../ledger/accounts.ts'
import { genesisCommitment } from '../ledger/commit-slot.ts'
import { genesisAccounts, identifyGenesis } from '../ledger/genesis.ts'
import { outputTrieChanges } from '../ledger/state-root.ts'
import { emptyTrie, trieRoot, updateTrie } from '../ledger/trie.ts'
import { present } from '../lib/assert.ts'
import { bytesToHex, type Hex } from '../lib/hex.ts'
import { ok } from '../lib/result.ts'
import { runToCompletion } from '../lib/turns.ts'
import { SlotCommitment } from '../protocol/commitment.ts'
import { Output } from '../protocol/outputs.ts'
import { AccountId, maxPerTransaction } from '../protocol/primitives.ts'
import { list, struct } from '../protocol/schema/declare.ts'
import { int64, omitted, record } from '../protocol/schema/response-scalars.ts'
import { print } from '../protocol/schema/schema.ts'
import { printAccounts } from './print-account.ts'
import { readInNetwork, type Verdict, type VerifyInput } from './verify-input.ts'

/** Computes the first state of a network (ledger reference 12.6). */

const GenesisQuestion = struct('GenesisQuestion', {
  // The outputs of one transaction.
  outputs: list('u32', Output, { max: maxPerTransaction, size: 'LIST_COUNT' }),
  credits: omitted(record(AccountId, int64), new Map()),
})

/** Computes identifiers, the first commitment, accounts and roots. */
export function verifyGenesis(input: VerifyInput): Verdict {
  const read = readInNetwork(GenesisQuestion, input)
  if (!read.ok) return read
  const { network, given } = read.value
  const { parameters } = network
  const { outputs, credits } = given
  const { blockId: genesisBlockId, ...identity } = identifyGenesis(parameters, outputs)
  const { commitment, commitmentId } = genesisCommitment(parameters)
  const identified = outputs.map((output, index) => ({
    outputId: present(identity.outputIds[index], 'the id of an output'),
    output,
  }))
  const accounts = runToCompletion(genesisAccounts(parameters, identified, credits))
  return ok({
    ...identity,
    genesisBlockId,
    commitment: print(SlotCommitment, commitment),
    commitmentId,
    accounts: printAccounts(accounts),
    accountRoot: rootOf(accountTrieChanges(accounts.map((entry) => [entry.accountId, entry]))),
    stateRoot: rootOf(outputTrieChanges({ created: identity.outputIds, consumed: [] })),
  })
}

function rootOf(changes: ReadonlyMap<Hex, Uint8Array | undefined>): Hex {
  return bytesToHex(trieRoot(updateTrie(emptyTrie, changes)))
}
