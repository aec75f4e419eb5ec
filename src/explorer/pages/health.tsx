import { document, type HealthPageData } from '../../generated/explorer/health.ts'
import { sentences as reasonSentences } from '../../generated/explorer/health-sentences.ts'
import { grouped, words as wordsOf } from '../format.ts'
import type { PageViewProps } from '../page.tsx'
import { Fact, Facts, Section } from '../parts/facts.tsx'
import { Figure } from '../parts/figure.tsx'
import type { TableDefinition } from '../parts/tables/table.tsx'
import { Meaning, TableSection } from '../parts/tables/table-section.tsx'
import { CommittedSlot } from '../parts/values/moments.tsx'
import { toolTexts } from '../texts-tools.ts'
import { toolPage } from '../tool-page.tsx'

/** The page of the gateway: its health, progress, lag and limits. */

type Health = HealthPageData['health']
type Status = HealthPageData['status']
type Following = NonNullable<Health['following']>
type Limit = HealthPageData['limits'][number]

const words = toolTexts.health

export const page = toolPage(document, HealthPage, {
  title: words.title,
  variables: () => ({}),
  // An unhealthy gateway may not commit milestones.
  live: () => 'SECONDS',
})

function HealthPage({ data: { health, status, limits } }: PageViewProps<HealthPageData>) {
  return (
    <>
      <HealthVerdict of={health} />
      <Figures of={status} />
      <StatusFacts health={health} status={status} />
      {health.following !== null && <FollowingFacts of={health.following} />}
      <TableSection of={limitTable} rows={limits} />
    </>
  )
}

function HealthVerdict({ of: { isHealthy, reason, reasons, starting } }: { readonly of: Health }) {
  return (
    <div class={isHealthy ? 'verdict' : 'failure'} role="status">
      <strong>
        <span aria-hidden="true">{isHealthy ? '✓' : '✕'}</span>{' '}
        {isHealthy ? words.healthy : words.unhealthy}
      </strong>
      {reasons.length > 0 && (
        <ul class="reasons">
          {reasons.map((one) => (
            <li key={one}>
              {reasonSentences[one]} <code class="muted">{one}</code>
            </li>
          ))}
        </ul>
      )}
      {reason !== null && <p>{words.noBlocks}</p>}
      {starting !== null && (
        <p>
          {words.waits(codeAsWords(starting.step))}{' '}
          {starting.of > 0 && words.progress(grouped(starting.done), grouped(starting.of))}
        </p>
      )}
    </div>
  )
}

/** Converts `NODES_AWAY` to `nodes away`. */
function codeAsWords(code: string): string {
  return code.toLowerCase().replaceAll('_', ' ')
}

function Figures({ of: status }: { readonly of: Status }) {
  const { lagSeconds, blocksPerSecond, transactionsPerSecond } = status
  return (
    <div class="figures">
      <Figure value={grouped(lagSeconds)} name={words.lag} note={words.lagNote} />
      <Figure
        value={blocksPerSecond?.toFixed(1) ?? '–'}
        name={words.blocks}
        note={words.overMinute}
      />
      <Figure
        value={transactionsPerSecond.toFixed(1)}
        name={words.transactions}
        note={words.overMinute}
      />
    </div>
  )
}

function StatusFacts({ health, status }: { readonly health: Health; readonly status: Status }) {
  return (
    <Facts>
      <Fact name={words.mode}>{words.modes[status.mode]}</Fact>
      <Fact name={words.role}>
        {words.roles[health.role]} <span class="muted">{words.term(grouped(health.term))}</span>
      </Fact>
      <Fact name={words.committed}>
        <CommittedSlot of={status.committed} />
      </Fact>
      <Fact name={words.current}>{grouped(status.current.slot)}</Fact>
      <Fact name={words.counts}>
        {words.countsOf(
          grouped(status.unspentOutputs),
          grouped(status.addresses),
          grouped(status.accounts),
        )}
      </Fact>
    </Facts>
  )
}

function FollowingFacts({ of: following }: { readonly of: Following }) {
  const { node, newestSlot, contradiction, unreadable } = following
  return (
    <Section title={words.following}>
      <Facts>
        <Fact name={words.following}>
          {codeAsWords(following.state)}
          {node !== null && (
            <span class="muted">
              {' '}
              {words.node(node)}, {following.isNodeHealthy ? words.nodeWell : words.nodeIll}
            </span>
          )}
        </Fact>
        <Fact name={words.newestSlot}>{newestSlot !== null && grouped(newestSlot)}</Fact>
        <Fact name={words.proofs}>{following.withProofs ? words.checked : words.notChecked}</Fact>
        <Fact name={words.contradiction}>{contradiction?.message}</Fact>
        <Fact name={words.unreadable}>{unreadable?.message}</Fact>
      </Facts>
    </Section>
  )
}

const limitTable: TableDefinition<Limit> = {
  caption: words.limits,
  keyOf: ({ name }) => name,
  empty: null,
  columns: [
    { head: words.limit, cell: ({ name }) => wordsOf(name) },
    {
      head: words.value,
      isNumber: true,
      cell: ({ value, unit }) => (
        <span class="count">
          {grouped(value)} <span class="unit">{words.units[unit]}</span>
        </span>
      ),
    },
    { head: words.meaning, cell: ({ meaning }) => <Meaning of={meaning} /> },
    {
      head: words.setting,
      cell: ({ setting }) => (setting === null ? '–' : <code class="breaks">{setting}</code>),
    },
  ],
}
