import { randomBytes } from 'node:crypto'
import type { AccountEntry } from '../ledger/accounts.ts'
import { genesisCommitment } from '../ledger/commit-slot.ts'
import { chooseCommittee } from '../ledger/committee.ts'
import { genesisAccounts, genesisBlockId, identifyOutputs } from '../ledger/genesis.ts'
import { compareLogEntries, logEntries } from '../ledger/updates.ts'
import { present } from '../lib/assert.ts'
import { bytesToHex } from '../lib/hex.ts'
import { Output } from '../protocol/outputs.ts'
import { ProtocolParameters } from '../protocol/parameters.ts'
import type { AccountId } from '../protocol/primitives.ts'
import { encode } from '../protocol/schema/schema.ts'
import type { Genesis } from '../store/contract.ts'
import { seatOf } from './committee-seat.ts'

/** The first state of a ledger (ledger reference 12.6, 14.1). */

/** What a network begins with. */
export interface GenesisPlan {
  readonly parameters: ProtocolParameters
  /** Their amounts add up to the token supply. */
  readonly outputs: readonly Output[]
  /** Block issuance credits of the accounts among the outputs; 0 where none are named. */
  readonly credits: ReadonlyMap<AccountId, bigint>
}

/** The rows that a plan makes. Only the id of the log is random: two networks of one plan have the same ids. */
export function genesisOf({ parameters, outputs, credits }: GenesisPlan): Genesis {
  const { genesisSlot: slot } = parameters
  const outputIds = identifyOutputs(parameters, outputs)
  const blockId = genesisBlockId(parameters)
  const identified = outputs.map((output, i) => ({
    output,
    outputId: present(outputIds[i], 'the id of a first output'),
  }))
  const entries = genesisAccounts(parameters, identified, credits)
  const { commitmentId, bytes } = genesisCommitment(parameters)
  return {
    network: {
      logId: bytesToHex(randomBytes(8)),
      parameters: encode(ProtocolParameters, parameters),
    },
    outputs: identified.map(({ outputId, output }) => ({
      outputId,
      bytes: encode(Output, output),
      blockId,
      bookedSlot: slot,
    })),
    accounts: entries.map((entry) => ({ accountId: entry.accountId, slot, entry })),
    epoch: {
      epoch: 0,
      // No account could announce before the network began, so all that stake are in the first committee.
      committee: chooseCommittee(parameters, entries.filter(isStaking)).map(seatOf),
      candidates: [],
      rewards: undefined,
    },
    commit: {
      slot,
      commitmentId,
      bytes,
      entries: identified
        .flatMap((one) => logEntries(parameters, { ...one, isSpent: false, slot }))
        .sort(compareLogEntries),
      accounts: [],
      epochs: [],
    },
  }
}

function isStaking({ validatorStake }: AccountEntry): boolean {
  return validatorStake > 0n
}
