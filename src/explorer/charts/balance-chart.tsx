import { useSignal } from '@preact/signals'
import { grouped } from '../format.ts'
import { type Column, Table } from '../parts/tables/table.tsx'
import { Amount } from '../parts/values/amount.tsx'
import { FullTime, utc } from '../parts/values/time.tsx'
import { texts } from '../texts.ts'
import { detailTexts } from '../texts-details.ts'
import {
  type BalancePoint,
  type BalanceStep,
  pictureHeight,
  pictureOf,
  pictureWidth,
  stepsOf,
} from './balance-steps.ts'

/** A chart of a balance over its whole history with a slider, and the same numbers as a table. */

const words = detailTexts.balanceChart

interface BalanceChartProps {
  readonly of: {
    readonly points: readonly BalancePoint[]
    /** First milestone with a known balance; null if balances are known since the genesis. */
    readonly knownFrom: number | null
  }
}

export function BalanceChart({ of: { points, knownFrom } }: BalanceChartProps) {
  const chosen = useSignal<number | undefined>(undefined)
  const picture = pictureOf(stepsOf(points))
  if (picture === undefined) return null
  const { steps, places, line, max, changes } = picture
  const at = Math.min(chosen.value ?? steps.length - 1, steps.length - 1)
  const step = steps[at]
  const stepTime = step === undefined ? '' : `${utc(step.timeMs)} ${texts.time.utc}`
  return (
    <div class="balance-chart">
      <p class="balance-chart-said">
        <span class="muted">{stepTime}</span> {step && <Amount value={String(step.balance)} />}
      </p>
      <div class="balance-chart-plot">
        <Axis max={max} name={words.balance} />
        <svg
          class="step-line"
          viewBox={`0 0 ${pictureWidth} ${pictureHeight}`}
          preserveAspectRatio="none"
          aria-hidden="true"
        >
          <path class="step-line-area" d={`${line}V${pictureHeight}H0z`} />
          <path class="step-line-line" d={line} vector-effect="non-scaling-stroke" />
          {changes !== undefined && (
            <>
              <path class="bar-gained" d={changes.gained} vector-effect="non-scaling-stroke" />
              <path class="bar-lost" d={changes.lost} vector-effect="non-scaling-stroke" />
            </>
          )}
          <path
            class="step-line-chosen"
            d={`M${places[at]} 0V${pictureHeight}`}
            vector-effect="non-scaling-stroke"
          />
        </svg>
        {changes !== undefined && <Axis max={changes.max} name={words.changes} isSecond />}
      </div>
      <input
        type="range"
        min={0}
        max={steps.length - 1}
        value={at}
        aria-label={words.slider}
        aria-valuetext={stepTime}
        onInput={({ currentTarget }) => {
          chosen.value = Number(currentTarget.value)
        }}
      />
      <p class="muted">
        {knownFrom === null ? words.whole : words.knownFrom(grouped(knownFrom))} {words.lastOf}
      </p>
      <Numbers of={steps} />
    </div>
  )
}

/** The table of the balances, which is rendered when it is opened. */
function Numbers({ of: steps }: { readonly of: readonly BalanceStep[] }) {
  const isOpen = useSignal(false)
  return (
    <details
      class="numbers"
      onToggle={({ currentTarget }) => {
        isOpen.value = currentTarget.open
      }}
    >
      <summary>{texts.home.numbers}</summary>
      {isOpen.value && (
        <Table
          caption={words.title}
          rows={steps.toReversed()}
          keyOf={({ timeMs }) => String(timeMs)}
          columns={columns}
          empty={null}
        />
      )}
    </details>
  )
}

const columns: readonly Column<BalanceStep>[] = [
  {
    head: texts.address.when,
    cell: ({ timeMs }) => <FullTime at={new Date(timeMs).toISOString()} />,
  },
  {
    head: texts.address.balance,
    cell: ({ balance }) => <Amount value={String(balance)} isBare />,
    isNumber: true,
  },
]

interface AxisProps {
  readonly max: bigint
  readonly name: string
  readonly isSecond?: boolean
}

function Axis({ max, name, isSecond = false }: AxisProps) {
  return (
    <div class={isSecond ? 'axis axis-second' : 'axis'}>
      <span>
        <Amount value={String(max)} isBare />
      </span>
      <span class="muted">{name}</span>
      <span>0</span>
    </div>
  )
}
