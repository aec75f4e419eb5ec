import type { TransactionPageData } from '../../../generated/explorer/transaction.ts'
import { grouped, shortened } from '../../format.ts'
import { linkTo } from '../../router.ts'
import { detailTexts } from '../../texts-details.ts'
import { Id } from '../values/id.tsx'
import { FlowLane } from './flow-lane.tsx'
import { type Lane, type LaneEnd, manaLane, tokenLanes } from './lanes.ts'

/** The flows of mana and native tokens in a transaction. */

type Transaction = NonNullable<TransactionPageData['transaction']>

const words = detailTexts.lanes

export function FlowLanes({
  of: { inputs, outputs, content, examination },
}: {
  readonly of: Transaction
}) {
  const mana =
    examination?.mana == null
      ? undefined
      : manaLane({
          ...{ inputs, outputs, mana: examination.mana },
          allotments: content?.transaction.allotments ?? [],
        })
  return (
    <>
      {mana !== undefined && <LaneOf title={words.mana} unit={words.manaUnit} lane={mana} />}
      {[...tokenLanes({ inputs, outputs })].map(([token, lane]) => (
        <LaneOf key={token} title={words.token} token={token} lane={lane} />
      ))}
    </>
  )
}

interface LaneOfProps {
  readonly title: string
  readonly unit?: string
  readonly token?: string
  readonly lane: Lane
}

function LaneOf({ title, unit, token, lane: { left, right } }: LaneOfProps) {
  const side = (ends: readonly LaneEnd[], name: string) => ({
    title: name,
    amounts: ends.map(({ amount }) => Number(amount)),
    children: ends.map((end) => <EndRow key={end.key} of={end} unit={unit} />),
  })
  const named = token === undefined ? title : `${title} ${shortened(token)}`
  return (
    <div class="lane">
      <h2>
        {title} {token !== undefined && <Id of="token" id={token} />}
      </h2>
      <FlowLane
        title={named}
        heading="h3"
        left={side(left, words.from)}
        right={side(right, words.to)}
      />
    </div>
  )
}

function EndRow({
  of: { kind, id, key, amount, written },
  unit,
}: {
  readonly of: LaneEnd
  readonly unit: string | undefined
}) {
  return (
    <li>
      <span class="flow-line">
        {kind === 'OUTPUT' && <Id of="address" id={id ?? ''} />}
        {kind === 'ACCOUNT' && <Id of="account" id={id ?? ''} />}
        {id === undefined && <span>{words.kinds[kind]}</span>}
        <span class="amount">
          {grouped(amount)}
          {unit !== undefined && <span class="unit"> {unit}</span>}
        </span>
      </span>
      <span class="flow-line muted">
        {kind === 'OUTPUT' && <a href={linkTo('output', { id: key })}>{words.output}</a>}
        {kind === 'ACCOUNT' && words.allotted}
        {written !== undefined && <span>{words.written(grouped(written))}</span>}
      </span>
    </li>
  )
}
