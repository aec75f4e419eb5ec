/** Converts metadata to rows: text as text, JSON objects by member, and other values as bytes. */

export interface MetadataEntry {
  readonly key: string
  /** Value as hexadecimal text. */
  readonly value: string
}

/** A value, or a member of a JSON value. */
export interface MetadataRow {
  readonly name: string
  readonly value: string
  readonly isText: boolean
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

/** The name in the metadata, from the member `name`, which the common metadata standards use; `undefined` if nothing of it is visible. */
export function nameIn(entries: readonly MetadataEntry[] | undefined): string | undefined {
  const row = metadataRows(entries ?? []).find(({ name }) => /(?:^|\.)name$/.test(name))
  if (!row?.isText || !/[^\s\p{Default_Ignorable_Code_Point}]/u.test(row.value)) return undefined
  return Array.from(row.value).slice(0, maxNameLength).join('')
}

const maxNameLength = 80

/** Decodes bytes as UTF-8; returns `undefined` if they are not UTF-8 or contain control characters. */
function textOf(hex: string): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytesOf(hex))
    return /\p{Cc}/u.test(text.replace(/[\t\r\n]/g, '')) ? undefined : text
  } catch {
    return undefined
  }
}

function bytesOf(hex: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(hex.slice(2).match(/../g) ?? [], (byte) => Number.parseInt(byte, 16))
}

/** The members of a JSON object; `undefined` for any other text. */
function membersOf(text: string): readonly [string, unknown][] | undefined {
  if (!text.trimStart().startsWith('{')) return undefined
  try {
    const members = Object.entries(JSON.parse(text))
    return /\d{16}/.test(text) ? Object.entries(JSON.parse(withExactNumbers(text))) : members
  } catch {
    return undefined
  }
}

/** Quotes the whole numbers in valid JSON that JavaScript would round. */
function withExactNumbers(json: string): string {
  return json.replace(/"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:e[+-]?\d+)?/gi, (token) =>
    /^-?\d+$/.test(token) && !Number.isSafeInteger(Number(token)) ? `"${token}"` : token,
  )
}

/** The URL of a picture or of other media: a URL in a member, or a data URL with the bytes of a picture. */
export function mediaIn(entries: readonly MetadataEntry[]): string | undefined {
  for (const { value, isText } of metadataRows(entries)) {
    const found = isText ? addressIn(value) : pictureIn(value)
    if (found !== undefined) return found
  }
  return undefined
}

function addressIn(text: string): string | undefined {
  if (/^data:image\//.test(text)) return text
  return /^https?:\/\/\S+$/.test(text) && URL.canParse(text) ? text : undefined
}

/** First bytes of the image formats that browsers support. */
const magicBytes = { '89504e47': 'png', ffd8ff: 'jpeg', '47494638': 'gif', '52494646': 'webp' }

function pictureIn(hex: string): string | undefined {
  const form = Object.entries(magicBytes).find(([bytes]) => hex.startsWith(`0x${bytes}`))?.[1]
  if (form === undefined) return undefined
  return `data:image/${form};base64,${btoa(String.fromCharCode(...bytesOf(hex)))}`
}
