import { type RuleName, ruleNames } from '../ledger/execute.ts'
import { failureReasonOf } from '../ledger/transaction-error.ts'
import { slotOfId } from '../protocol/ids.ts'
import { CommitmentInput } from '../protocol/inputs.ts'
import { is } from '../protocol/is.ts'
import { failureReason } from '../service/blocks/failure-reason.ts'
import type { JudgedTransaction } from '../tools/verify-transaction.ts'
import { table } from './command.ts'

/** Explains how the ledger rules judge a transaction. */

/** Lists the rules that hold, the first rule that is broken, and the use of the mana. */
export function explainTransaction(judged: JudgedTransaction): string {
  const { examination, error } = judged
  const held = examination?.passed ?? []
  const isResolved = examination !== undefined
  const broken = error === undefined ? undefined : ruleNames[held.length]
  const rows: [string, string][] = [[isResolved ? 'holds' : 'BROKEN', referencesRule]]
  for (const [index, name] of ruleNames.entries()) {
    const isBroken = isResolved && name === broken
    rows.push([index < held.length ? 'holds' : isBroken ? 'BROKEN' : '-', ruleTexts[name]])
  }
  return [
    heading(judged),
    table(rows),
    ...(error === undefined ? ['The transaction is valid.'] : [failure(error)]),
    ...manaLines(judged),
  ]
    .join('\n\n')
    .concat('\n')
}

const referencesRule = 'inputs exist and are unspent; context inputs refer to existing objects'

const ruleTexts: { readonly [N in RuleName]: string } = {
  inputsUnlocked: 'the owner of each input has unlocked it',
  manaSummed: 'the mana of inputs and outputs fits into 64 bits',
  timelocksPassed: 'no input is timelocked',
  sendersUnlocked: 'every sender has unlocked an input',
  baseTokensBalance: 'inputs and outputs hold the same base tokens',
  storageDepositsReturned: 'storage deposits are returned',
  nativeTokensBalance: 'native tokens balance unless their foundry is part of the transaction',
  chainsTransition:
    'accounts, anchors, foundries, NFTs and delegations are created, changed and destroyed by their rules',
  inputsCreatedBefore: 'no input is newer than the transaction',
  manaBalances:
    'inputs provide the mana of outputs and allotments; mana is burned only with permission',
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

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

function failure(error: NonNullable<JudgedTransaction['error']>): string {
  const { code, ...fields } = error
  const published = failureReason(failureReasonOf(error))
  return [
    `The transaction fails: ${published?.sentence}.`,
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
