import type { ComponentChildren } from 'preact'
import { document, type NetworkPageData } from '../../generated/explorer/network.ts'
import { sentences } from '../../generated/explorer/parameter-sentences.ts'
import { grouped, words as wordsOf } from '../format.ts'
import type { PageViewProps } from '../page.tsx'
import { Fact, Facts } from '../parts/facts.tsx'
import type { TableDefinition } from '../parts/tables/table.tsx'
import { Meaning, TableSection } from '../parts/tables/table-section.tsx'
import { Count } from '../parts/values/amount.tsx'
import { PlainId } from '../parts/values/id.tsx'
import { CommittedSlot, Epoch } from '../parts/values/moments.tsx'
import { CountFact } from '../parts/values/value-facts.tsx'
import { toolTexts } from '../texts-tools.ts'
import { toolPage } from '../tool-page.tsx'

/** The page of the network: its version and current time, and every protocol parameter with its meaning. */

type Parameters = NetworkPageData['network']['parameters']

const words = toolTexts.network

export const page = toolPage(document, NetworkPage, {
  title: words.title,
  variables: () => ({}),
  // The slots and the epoch change with every milestone.
})

function NetworkPage({ data }: PageViewProps<NetworkPageData>) {
  const { parameters } = data.network
  const groups = groupsOf(parameters)
  return (
    <>
      <Now of={data} />
      {groups.map(({ name, rows }) => (
        <TableSection
          key={name}
          of={{ ...parameterTable, caption: words.groups[name] ?? wordsOf(name) }}
          rows={rows}
        />
      ))}
    </>
  )
}

function Now({ of: { network, status, epoch } }: { readonly of: NetworkPageData }) {
  const { baseToken: token } = network
  return (
    <Facts>
      <Fact name={words.name}>
        {network.parameters.networkName}
        {network.isDevelopment && <span class="muted"> {words.development}</span>}
      </Fact>
      <CountFact name={words.version} value={network.parameters.version} />
      <CountFact name={words.current} value={status.current.slot} />
      <Fact name={words.committed}>
        <CommittedSlot of={status.committed} />
      </Fact>
      <Fact name={words.epoch}>
        {epoch !== null && (
          <>
            <Epoch index={epoch.index} />{' '}
            <span class="muted">
              {words.slots(grouped(epoch.firstSlot), grouped(epoch.lastSlot))}
            </span>
          </>
        )}
      </Fact>
      <Fact name={words.id}>
        <code>{network.networkId}</code>
      </Fact>
      <Fact name={words.hash}>
        <PlainId id={network.parametersHash} />
      </Fact>
      <Fact name={words.token}>
        {token.name}{' '}
        <span class="muted">
          {words.oneToken(token.unit, grouped(10n ** BigInt(token.decimals)), token.subunit)}
        </span>
      </Fact>
    </Facts>
  )
}

interface Row {
  readonly name: string
  readonly group: string
  readonly value: unknown
}

/** Groups the parameters in the order of the document: first those without a group, then each group. */
function groupsOf(parameters: Parameters) {
  const rowsByGroup = new Map<string, Row[]>([['', []]])
  for (const [name, value] of Object.entries(parameters)) {
    const isGroup = typeof value === 'object' && !Array.isArray(value)
    const rows = Object.entries(isGroup ? value : { [name]: value }).map((row) => ({
      name: row[0],
      group: isGroup ? name : '',
      value: row[1] as unknown,
    }))
    const group = isGroup ? name : ''
    rowsByGroup.set(group, [...(rowsByGroup.get(group) ?? []), ...rows])
  }
  return [...rowsByGroup].map(([name, rows]) => ({ name, rows }))
}

const parameterTable: Omit<TableDefinition<Row>, 'caption'> = {
  keyOf: ({ name }) => name,
  empty: null,
  columns: [
    { head: words.parameter, cell: ({ name }) => wordsOf(name) },
    { head: words.value, cell: valueCell, isNumber: true },
    { head: words.unit, cell: unitOf },
    { head: words.meaning, cell: ({ name }) => <Meaning of={sentences[name]} /> },
  ],
}

function unitOf({ name, group }: Row): string {
  return words.units[name] ?? words.groupUnits[group] ?? ''
}

function valueCell({ value }: Row): ComponentChildren {
  if (!Array.isArray(value)) {
    const text = String(value)
    return /^[0-9]+$/.test(text) ? <Count value={text} /> : text
  }
  return (
    <details class="numbers">
      <summary>{words.numbers(grouped(value.length))}</summary>
      {value.join(', ')}
    </details>
  )
}
