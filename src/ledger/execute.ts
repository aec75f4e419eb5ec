import { err, ok, type Result } from '../lib/result.ts'
import { outputId } from '../protocol/ids.ts'
import type { Output } from '../protocol/outputs.ts'
import type { OutputId } from '../protocol/primitives.ts'
import { baseTokensBalance, storageDepositsReturned } from './balances.ts'
import { chainsTransition } from './chain-transitions.ts'
import { inputsCreatedBefore, manaBalances, manaSummed } from './mana-balance.ts'
import { nativeTokensBalance } from './native-tokens.ts'
import { timelocksPassed } from './owners.ts'
import { sendersUnlocked } from './senders.ts'
import type { TransactionError } from './transaction-error.ts'
import { oneImplicitAccount } from './transitions/implicit-account.ts'
import { inputsUnlocked } from './unlocks.ts'
import { type ExecutionRequest, type WorkingSet, workingSet } from './working-set.ts'

/** Whether a transaction may change the ledger, and what it changes (ledger reference 3.2). */

/** What a transaction does to the set of unspent outputs. */
export interface Diff {
  /** In the order of the inputs. */
  readonly consumed: readonly OutputId[]
  /** In the order of the outputs. */
  readonly created: readonly { readonly outputId: OutputId; readonly output: Output }[]
  readonly mana: ManaTotals
}

/** Mana of all inputs with their rewards, and of all outputs and allotments; what is between them is burned. */
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

/** A verdict with the way to it. */
export interface Examination {
  /** The rules that hold, in their order; the one behind the last is broken, if the verdict says so. */
  readonly passed: readonly RuleName[]
  readonly verdict: Result<Diff, TransactionError>
  /** `undefined` where a rule before the summing of mana is broken, or that itself. */
  readonly mana: ManaAccount | undefined
}

/** The mana of a transaction in detail. */
export interface ManaAccount extends ManaTotals {
  /** Stored mana that is left and potential mana of each input. */
  readonly byInput: readonly bigint[]
  /** Claimed by reward inputs. */
  readonly rewards: bigint
}

/** Executes a transaction; the result says how far it came. */
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

/** The order decides which failure is published, and is that of the node. */
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

/** The name of a rule. */
export type RuleName = keyof typeof rules

/** All rules in their order. */
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
