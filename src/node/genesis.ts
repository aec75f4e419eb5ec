import { randomBytes } from 'node:crypto'
import type { AccountEntry } from '../ledger/accounts.ts'
import { genesisCommitment } from '../ledger/commit-slot.ts'
import { chooseCommittee } from '../ledger/committee.ts'
import { genesisAccounts, genesisBlockId, identifySteps } from '../ledger/genesis.ts'
import type { LedgerOutput } from '../ledger/output-parts.ts'
import { logEntries, logOrderSteps } from '../ledger/updates.ts'
import { present } from '../lib/assert.ts'
import { bytesToHex } from '../lib/hex.ts'
import { paused, type Steps } from '../lib/turns.ts'
import { Output } from '../protocol/outputs.ts'
import { ProtocolParameters } from '../protocol/parameters.ts'
import type { AccountId } from '../protocol/primitives.ts'
import { encode } from '../protocol/schema/schema.ts'
import type { CreatedOutput, Genesis } from '../store/contract.ts'
import type { LogEntry } from '../store/rows.ts'
import { seatOf } from './committee-seat.ts'

/** The first state of a ledger (ledger reference 12.6, 14.1). */

/** The parameters and outputs that a network begins with. */
export interface GenesisPlan {
  readonly parameters: ProtocolParameters
  /** The first outputs. Their amounts add up to the token supply. */
  readonly outputs: readonly Output[]
  /** Block issuance credits of the accounts among the outputs; 0 for an account that is not listed. */
  readonly credits: ReadonlyMap<AccountId, bigint>
}

/**
 * Creates the rows of a plan, in steps, because a plan may have any number of outputs. Only the log id is random: two networks with
 * the same plan have the same ids.
 */
export function* genesisSteps({ parameters, outputs, credits }: GenesisPlan): Steps<Genesis> {
  const { genesisSlot: slot } = parameters
  const outputIds = yield* identifySteps(parameters, outputs)
  const blockId = genesisBlockId(parameters)
  const identified: LedgerOutput[] = []
  const rows: CreatedOutput[] = []
  const entries: LogEntry[] = []
  yield* paused(outputs, (output) => {
    const outputId = present(outputIds[identified.length], 'the id of a first output')
    identified.push({ outputId, output })
    rows.push({ outputId, bytes: encode(Output, output), blockId, bookedSlot: slot })
    for (const entry of logEntries(parameters, { outputId, output, isSpent: false, slot })) {
      entries.push(entry)
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
      // No account can announce its candidacy before the network begins, so all staking accounts are candidates.
      committee: chooseCommittee(parameters, accounts.filter(isStaking)).map(seatOf),
      candidates: [],
      rewards: undefined,
    },
    commit: {
      slot,
      commitmentId,
      bytes,
      entries: yield* logOrderSteps(entries),
      accounts: [],
      epochs: [],
    },
  }
}

function isStaking({ validatorStake }: AccountEntry): boolean {
  return validatorStake > 0n
}
