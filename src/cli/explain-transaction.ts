import { type RuleName, ruleNames } from '../ledger/execute.ts'
import { failureReasonOf } from '../ledger/transaction-error.ts'
import { slotOfId } from '../protocol/ids.ts'
import { CommitmentInput } from '../protocol/inputs.ts'
import { is } from '../protocol/is.ts'
import { failureReason } from '../service/blocks/failure-reason.ts'
import type { JudgedTransaction } from '../tools/verify-transaction.ts'
import { table } from './command.ts'

/** The way of a transaction through the rules, for people. */

/** Says which rules hold, which one is broken first, and what becomes of the mana. */
export function explainTransaction(judged: JudgedTransaction): string {
  const { examination, error } = judged
  const held = examination?.passed ?? []
  const isResolved = examination !== undefined
  const broken = error === undefined ? undefined : ruleNames[held.length]
  const rows: [string, string][] = [[isResolved ? 'holds' : 'BROKEN', referencesRule]]
  for (const [index, name] of ruleNames.entries()) {
    const isBroken = isResolved && name === broken
    rows.push([index < held.length ? 'holds' : isBroken ? 'BROKEN' : '-', saying[name]])
  }
  return [
    heading(judged),
    table(rows),
    ...(error === undefined ? ['The transaction holds.'] : [failure(error)]),
    ...manaLines(judged),
  ]
    .join('\n\n')
    .concat('\n')
}

const referencesRule = 'inputs exist and are unspent, context inputs lead to something'

/** What each rule demands. */
const saying: { readonly [N in RuleName]: string } = {
  inputsUnlocked: 'the owner of each input has unlocked it',
  manaSummed: 'mana of inputs and outputs stays within 64 bits',
  timelocksPassed: 'no input is locked',
  sendersUnlocked: 'senders have unlocked an input',
  baseTokensBalance: 'inputs and outputs hold the same base tokens',
  storageDepositsReturned: 'storage deposits are given back',
  nativeTokensBalance: 'native tokens without their foundry stay',
  chainsTransition:
    'accounts, anchors, foundries, NFTs and delegations begin, change and end by their rules',
  inputsCreatedBefore: 'no input is younger than the transaction',
  manaBalances:
    'inputs have the mana that outputs and allotments get; none is burned without permission',
  oneImplicitAccount: 'at most one implicit account becomes an account',
}

function heading({ transactionId, payload: { transaction } }: JudgedTransaction): string {
  const commitment = transaction.contextInputs.find((input) => is(CommitmentInput, input))
  const { inputs, outputs, creationSlot } = transaction
  const clock =
    commitment === undefined
      ? 'no commitment'
      : `commitment to slot ${slotOfId(commitment.commitmentId)}`
  return [
    `transaction ${transactionId}`,
    `${counted(inputs.length, 'input')}, ${counted(outputs.length, 'output')}, created in slot ${creationSlot}, ${clock}`,
  ].join('\n')
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`
}

function failure(error: NonNullable<JudgedTransaction['error']>): string {
  const { code, ...fields } = error
  const published = failureReason(failureReasonOf(error))
  return [
    `It fails: ${published?.sentence}.`,
    table([
      ['reason', `${published?.code} ${published?.name} (${code})`],
      ...Object.entries(fields).map(([key, value]): [string, string] => [key, String(value)]),
    ]),
  ].join('\n')
}

function manaLines({ examination }: JudgedTransaction): string[] {
  if (examination?.mana === undefined) return []
  const { inputs, outputs, byInput, rewards } = examination.mana
  const left = inputs - outputs
  return [
    `Mana in the creation slot:\n${table([
      ...byInput.map((mana, input): [string, string] => [`input ${input}`, `${mana}`]),
      ['rewards', `${rewards}`],
      ['in', `${inputs}`],
      ['out', `${outputs} (outputs and allotments)`],
      left < 0n ? ['missing', `${-left}`] : ['burned', `${left}`],
    ])}`,
  ]
}
