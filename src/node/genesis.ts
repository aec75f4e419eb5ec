import { randomBytes } from 'node:crypto'
import type { LedgerOutput } from '../ledger/account-changes.ts'
import type { AccountEntry } from '../ledger/accounts.ts'
import { genesisCommitment } from '../ledger/commit-slot.ts'
import { chooseCommittee } from '../ledger/committee.ts'
import { genesisAccounts, genesisBlockId, identifySteps } from '../ledger/genesis.ts'
import { logEntries, logOrderSteps } from '../ledger/updates.ts'
import { present } from '../lib/assert.ts'
import { bytesToHex } from '../lib/hex.ts'
import { atOnce, paused, type Steps } from '../lib/turns.ts'
import { Output } from '../protocol/outputs.ts'
import { ProtocolParameters } from '../protocol/parameters.ts'
import type { AccountId } from '../protocol/primitives.ts'
import { encode } from '../protocol/schema/schema.ts'
import type { CreatedOutput, Genesis } from '../store/contract.ts'
import type { LogEntry } from '../store/rows.ts'
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
export function genesisOf(plan: GenesisPlan): Genesis {
  return atOnce(genesisSteps(plan))
}

/** The same in steps, for a plan may have any number of outputs. */
export function* genesisSteps({ parameters, outputs, credits }: GenesisPlan): Steps<Genesis> {
  const { genesisSlot: slot } = parameters
  const outputIds = yield* identifySteps(parameters, outputs)
  const blockId = genesisBlockId(parameters)
  const identified: LedgerOutput[] = []
  const rows: CreatedOutput[] = []
  const made: LogEntry[] = []
  yield* paused(outputs, (output) => {
    const outputId = present(outputIds[identified.length], 'the id of a first output')
    identified.push({ outputId, output })
    rows.push({ outputId, bytes: encode(Output, output), blockId, bookedSlot: slot })
    for (const entry of logEntries(parameters, { outputId, output, isSpent: false, slot })) {
      made.push(entry)
    }
  })
  const accounts = yield* genesisAccounts(parameters, identified, credits)
  const { commitmentId, bytes } = genesisCommitment(parameters)
  return {
    network: {
      logId: bytesToHex(randomBytes(8)),
      parameters: encode(ProtocolParameters, parameters),
    },
    outputs: rows,
    accounts: accounts.map((entry) => ({ accountId: entry.accountId, slot, entry })),
    epoch: {
      epoch: 0,
      // No account could announce before the network began, so all that stake are in the first committee.
      committee: chooseCommittee(parameters, accounts.filter(isStaking)).map(seatOf),
      candidates: [],
      rewards: undefined,
    },
    commit: {
      slot,
      commitmentId,
      bytes,
      entries: yield* logOrderSteps(made),
      accounts: [],
      epochs: [],
    },
  }
}

function isStaking({ validatorStake }: AccountEntry): boolean {
  return validatorStake > 0n
}
