import type { ComponentChildren } from 'preact'
import type { TransactionPageData } from '../../generated/explorer/transaction.ts'
import { words as wordsOf } from '../format.ts'
import { linkTo } from '../router.ts'
import { texts } from '../texts.ts'
import { Amount } from './amount.tsx'
import { Id } from './id.tsx'
import { ribbonsOf } from './ribbons.ts'

/** The inputs of a transaction on the left, its outputs on the right, and ribbons between them as wide as they are worth. */

type Transaction = NonNullable<TransactionPageData['transaction']>
type Party = Transaction['inputs'][number]
type Planned = NonNullable<Transaction['content']>['transaction']['outputs'][number]

const words = texts.flow

/** The height of a row, which the ribbons are drawn to. */
const rowPx = 64
const headPx = 28

export function Flow({ of: transaction }: { readonly of: Transaction }) {
  const { inputs, outputs, content } = transaction
  // Outputs exist from when it is accepted on; before, it says what it would create.
  const planned = outputs.length > 0 ? [] : (content?.transaction.outputs ?? [])
  const amounts = outputs.length > 0 ? outputs : planned
  const rows = Math.max(inputs.length, amounts.length, 1)
  const height = rows * rowPx
  const { paths } = ribbonsOf({
    left: inputs.map(({ amount }) => Number(amount)),
    right: amounts.map(({ amount }) => Number(amount)),
    rowPx,
    height,
  })
  return (
    <section class="flow" aria-label={words.title}>
      <FlowList title={words.inputs(inputs.length)}>
        {inputs.map((one) => (
          <PartyRow key={one.outputId} of={one} />
        ))}
      </FlowList>
      <svg
        class="ribbons"
        viewBox={`0 0 100 ${height + headPx}`}
        style={{ height: `${height + headPx}px` }}
        preserveAspectRatio="none"
        aria-hidden="true"
      >
        <g transform={`translate(0 ${headPx})`}>
          {paths.map((path, n) => (
            <path key={n} d={path} />
          ))}
        </g>
      </svg>
      <FlowList
        title={planned.length > 0 ? words.planned(planned.length) : words.outputs(outputs.length)}
      >
        {outputs.map((one) => (
          <PartyRow
            key={one.outputId}
            of={one}
            spentBy={one.spendingTransaction?.transactionId}
            isOutput
          />
        ))}
        {planned.map((one, n) => (
          <PlannedRow key={n} of={one} />
        ))}
      </FlowList>
    </section>
  )
}

function FlowList({
  title,
  children,
}: {
  readonly title: string
  readonly children: ComponentChildren
}) {
  return (
    <div>
      <h2>{title}</h2>
      <ul>{children}</ul>
    </div>
  )
}

interface PartyRowProps {
  readonly of: Party
  readonly spentBy?: string | undefined
  readonly isOutput?: boolean
}

function PartyRow({
  of: { outputId, kind, amount, owner, content },
  spentBy,
  isOutput,
}: PartyRowProps) {
  const conditions = content.unlockConditions.map(({ __typename: name }) => conditionName(name))
  const notes = [kind === 'BASIC' ? undefined : texts.kind[kind], ...conditions]
  return (
    <li data-row>
      <span class="flow-line">
        <Id of="address" id={owner.bech32} />
        <Amount value={amount} />
      </span>
      <span class="flow-line muted">
        <span class="flow-notes">
          <a href={linkTo('output', { id: outputId })}>{words.output}</a>
          {notes.filter((note) => note !== undefined).map((note) => ` · ${note}`)}
        </span>
        {isOutput && <Fate spentBy={spentBy} />}
      </span>
    </li>
  )
}

function Fate({ spentBy }: { readonly spentBy: string | undefined }) {
  if (spentBy === undefined) return <span>{words.unspent}</span>
  return <a href={linkTo('transaction', { id: spentBy })}>{words.spent}</a>
}

function PlannedRow({
  of: { __typename: name, amount, unlockConditions },
}: {
  readonly of: Planned
}) {
  const address = unlockConditions.find((one) => 'address' in one)
  return (
    <li>
      <span class="flow-line">
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

/** Those that say more than who owns it. */
function conditionName(name: string): string | undefined {
  return words.conditions[name]
}
