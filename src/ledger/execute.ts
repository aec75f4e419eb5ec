import { err, ok, type Result } from '../lib/result.ts'
import { outputId } from '../protocol/ids.ts'
import type { OutputId } from '../protocol/primitives.ts'
import { baseTokensBalance, storageDepositsReturned } from './balances.ts'
import { chainsTransition } from './chain-transitions.ts'
import { inputsCreatedBefore, manaBalances, manaSummed } from './mana-balance.ts'
import { nativeTokensBalance } from './native-tokens.ts'
import type { LedgerOutput } from './output-parts.ts'
import { timelocksPassed } from './owners.ts'
import { sendersUnlocked } from './senders.ts'
import type { TransactionError } from './transaction-error.ts'
import { oneImplicitAccount } from './transitions/implicit-account.ts'
import { inputsUnlocked } from './unlocks.ts'
import { type ExecutionRequest, type WorkingSet, workingSet } from './working-set.ts'

/** Decides whether a transaction may change the ledger, and computes its changes (ledger reference 3.2). */

/** The changes of a transaction to the set of unspent outputs. */
export interface Diff {
  /** In the order of the inputs. */
  readonly consumed: readonly OutputId[]
  /** In the order of the outputs. */
  readonly created: readonly LedgerOutput[]
  readonly mana: ManaTotals
}

/** Mana of all inputs with their rewards, and of all outputs and allotments. The difference is burned. */
export interface ManaTotals {
  readonly inputs: bigint
  readonly outputs: bigint
}

/** Executes one transaction against its resolved inputs. The first broken rule wins. */
export function execute(request: ExecutionRequest): Result<Diff, TransactionError> {
  const set = workingSet(request)
  for (const name of ruleNames) {
    const broken = rules[name](set)
    if (broken !== undefined) return err(broken)
  }
  return ok(diffOf(set))
}

/** A verdict with its details. */
export interface Examination {
  /** The rules that hold, in order. If the verdict is an error, the next rule is broken. */
  readonly passed: readonly RuleName[]
  readonly verdict: Result<Diff, TransactionError>
  /** `undefined` if the rule that sums the mana, or an earlier rule, is broken. */
  readonly mana: ManaAccount | undefined
}

/** The mana of a transaction in detail. */
export interface ManaAccount extends ManaTotals {
  /** Decayed stored mana plus potential mana of each input. */
  readonly byInput: readonly bigint[]
  /** Mana claimed by reward inputs. */
  readonly rewards: bigint
}

/** Executes a transaction, and reports which rules it passed. */
export function examine(request: ExecutionRequest): Examination {
  const set = workingSet(request)
  const passed: RuleName[] = []
  for (const name of ruleNames) {
    const broken = rules[name](set)
    if (broken !== undefined) return { passed, verdict: err(broken), mana: manaOf(set, passed) }
    passed.push(name)
  }
  return { passed, verdict: ok(diffOf(set)), mana: manaOf(set, passed) }
}

/** The rules in the order of the node. The order decides which failure is published. */
const rules = {
  inputsUnlocked,
  manaSummed,
  timelocksPassed,
  sendersUnlocked,
  baseTokensBalance,
  storageDepositsReturned,
  nativeTokensBalance,
  chainsTransition,
  inputsCreatedBefore,
  manaBalances,
  oneImplicitAccount,
} satisfies { readonly [name: string]: Rule }

type Rule = (set: WorkingSet) => TransactionError | undefined

export type RuleName = keyof typeof rules

/** The names of all rules, in order. */
export const ruleNames = Object.keys(rules) as readonly RuleName[]

function diffOf({ transaction, transactionId, inputs, mana }: WorkingSet): Diff {
  return {
    consumed: inputs.map((input) => input.outputId),
    created: transaction.outputs.map((output, index) => ({
      outputId: outputId(transactionId, index),
      output,
    })),
    mana: { inputs: mana.inputs, outputs: mana.outputs },
  }
}

function manaOf(
  { mana, rewards }: WorkingSet,
  passed: readonly RuleName[],
): ManaAccount | undefined {
  if (!passed.includes('manaSummed')) return undefined
  return { ...mana, rewards: [...rewards.values()].reduce((sum, reward) => sum + reward, 0n) }
}
