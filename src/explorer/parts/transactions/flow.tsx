import type { TransactionPageData } from '../../../generated/explorer/transaction.ts'
import { words as wordsOf } from '../../format.ts'
import { linkTo } from '../../router.ts'
import { texts } from '../../texts.ts'
import { Amount } from '../values/amount.tsx'
import { Id } from '../values/id.tsx'
import { FlowLane } from './flow-lane.tsx'

/** The flow of base tokens: inputs on the left, outputs on the right, and ribbons whose width is proportional to the amounts. */

type Transaction = NonNullable<TransactionPageData['transaction']>
type Party = Transaction['inputs'][number]
type Planned = NonNullable<Transaction['content']>['transaction']['outputs'][number]

const words = texts.flow

/** The input or output that breaks a rule. */
export interface BrokenPart {
  /** Id of the output that the input spends. */
  readonly input: string | undefined
  /** Index of the output that would be created. */
  readonly output: number | undefined
}

interface FlowProps {
  readonly of: Transaction
  readonly broken?: BrokenPart | undefined
}

export function Flow({ of: transaction, broken }: FlowProps) {
  const { inputs, outputs, content } = transaction
  // Outputs exist once the transaction is accepted. Until then, the planned outputs are shown.
  const planned = outputs.length > 0 ? [] : (content?.transaction.outputs ?? [])
  const created = outputs.length > 0 ? outputs : planned
  const amountsOf = (some: readonly { readonly amount: string }[]) =>
    some.map(({ amount }) => Number(amount))
  return (
    <FlowLane
      title={words.title}
      heading="h2"
      left={{
        title: words.inputs(inputs.length),
        amounts: amountsOf(inputs),
        children: inputs.map((one) => (
          <PartyRow key={one.outputId} of={one} isBroken={one.outputId === broken?.input} />
        )),
      }}
      right={{
        title: planned.length > 0 ? words.planned(planned.length) : words.outputs(outputs.length),
        amounts: amountsOf(created),
        children: [
          ...outputs.map((one) => (
            <PartyRow
              key={one.outputId}
              of={one}
              spentBy={one.spendingTransaction?.transactionId}
              isOutput
            />
          )),
          ...planned.map((one, n) => (
            <PlannedRow key={n} of={one} isBroken={n === broken?.output} />
          )),
        ],
      }}
    />
  )
}

interface PartyRowProps {
  readonly of: Party
  readonly spentBy?: string | undefined
  readonly isOutput?: boolean
  readonly isBroken?: boolean
}

function PartyRow({
  of: { outputId, kind, amount, owner, content },
  spentBy,
  isOutput,
  isBroken,
}: PartyRowProps) {
  // Conditions that only define the owner have no name.
  const conditions = content.unlockConditions.map(({ __typename: name }) => words.conditions[name])
  const notes = [kind === 'BASIC' ? undefined : texts.kind[kind], ...conditions]
  return (
    <li data-row class={isBroken ? 'flow-broken' : undefined}>
      <span class="flow-line">
        {isBroken && <strong>✕ {words.broken}</strong>}
        <Id of="address" id={owner.bech32} />
        <Amount value={amount} />
      </span>
      <span class="flow-line muted">
        <span class="flow-notes">
          <a href={linkTo('output', { id: outputId })}>{words.output}</a>
          {notes.filter((note) => note !== undefined).map((note) => ` · ${note}`)}
        </span>
        {isOutput && <SpentState spentBy={spentBy} />}
      </span>
    </li>
  )
}

function SpentState({ spentBy }: { readonly spentBy: string | undefined }) {
  if (spentBy === undefined) return <span>{words.unspent}</span>
  return <a href={linkTo('transaction', { id: spentBy })}>{words.spent}</a>
}

function PlannedRow({
  of: { __typename: name, amount, unlockConditions },
  isBroken,
}: {
  readonly of: Planned
  readonly isBroken: boolean
}) {
  const address = unlockConditions.find((one) => 'address' in one)
  return (
    <li class={isBroken ? 'flow-broken' : undefined}>
      <span class="flow-line">
        {isBroken && <strong>✕ {words.broken}</strong>}
        {address !== undefined && 'address' in address ? (
          <Id of="address" id={address.address.bech32} />
        ) : (
          <span>{wordsOf(name)}</span>
        )}
        <Amount value={amount} />
      </span>
      <span class="flow-line muted">{words.notCreated}</span>
    </li>
  )
}
