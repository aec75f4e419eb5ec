import { chainTexts } from '../texts-chains.ts'
import { type Column, Table } from './table.tsx'

/** Metadata as a table: text as text, JSON member by member, anything else as bytes. */

export interface MetadataEntry {
  readonly key: string
  /** Hexadecimal. */
  readonly value: string
}

/** A value, or a member of one that is JSON. */
export interface MetadataRow {
  readonly name: string
  readonly value: string
  readonly isText: boolean
}

const words = chainTexts.metadata

export function Metadata({
  of: entries,
  title = words.title,
}: {
  readonly of: readonly MetadataEntry[]
  readonly title?: string
}) {
  return (
    <Table
      caption={title}
      rows={metadataRows(entries)}
      keyOf={({ name }) => name}
      columns={columns}
      empty={words.none}
    />
  )
}

const columns: readonly Column<MetadataRow>[] = [
  { head: words.key, cell: ({ name }) => name },
  { head: words.value, cell: (row) => <Value of={row} /> },
]

function Value({ of: { value, isText } }: { readonly of: MetadataRow }) {
  if (isText) return <span class="metadata-value">{value.length > 300 ? cut(value) : value}</span>
  return (
    <span class="metadata-value">
      <span class="muted">{words.bytes(value.length / 2 - 1)}</span> <code>{cut(value)}</code>
    </span>
  )
}

function cut(text: string): string {
  return text.length > 100 ? `${text.slice(0, 100)}…` : text
}

export function metadataRows(entries: readonly MetadataEntry[]): MetadataRow[] {
  return entries.flatMap(({ key, value }): MetadataRow[] => {
    const text = textOf(value)
    if (text === undefined) return [{ name: key, value, isText: false }]
    const members = membersOf(text)
    if (members === undefined) return [{ name: key, value: text, isText: true }]
    return members.map(([name, member]) => ({
      name: entries.length === 1 ? name : `${key}.${name}`,
      value: typeof member === 'string' ? member : JSON.stringify(member),
      isText: true,
    }))
  })
}

/** What a member of the metadata says, by the name that the usual forms of metadata give it. */
export function saidIn(entries: readonly MetadataEntry[] | undefined, name: string) {
  const row = metadataRows(entries ?? []).find(
    (one) => one.name === name || one.name.endsWith(`.${name}`),
  )
  return row?.isText ? row.value : undefined
}

/** Bytes as UTF-8; `undefined` where they are none, or hold control characters. */
function textOf(hex: string): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytesOf(hex))
    return /\p{Cc}/u.test(text.replace(/[\t\r\n]/g, '')) ? undefined : text
  } catch {
    return undefined
  }
}

export function bytesOf(hex: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(hex.slice(2).match(/../g) ?? [], (byte) => Number.parseInt(byte, 16))
}

/** The members of a JSON object. */
function membersOf(text: string): readonly [string, unknown][] | undefined {
  if (!text.trimStart().startsWith('{')) return undefined
  try {
    return Object.entries(JSON.parse(text))
  } catch {
    return undefined
  }
}
