import fc from 'fast-check'

/** Random changes to bytes and to JSON, as an attacker or a faulty connection makes them. */

/** One to four edits of bytes: changes a byte, removes, inserts or repeats some bytes, or truncates the end. */
export const byteDamage: fc.Arbitrary<(bytes: Uint8Array) => Uint8Array> = fc
  .array(
    fc.record({
      edit: fc.constantFrom('change', 'flip', 'cut', 'insert', 'repeat', 'truncate'),
      // A fraction of the length, so that the same edit applies to values of any size.
      at: fc.nat(65_535),
      length: fc.integer({ min: 1, max: 40 }),
      byte: fc.nat(255),
    }),
    { minLength: 1, maxLength: 4 },
  )
  .map((edits) => (bytes) => edits.reduce(damaged, bytes))

interface Edit {
  readonly edit: string
  readonly at: number
  readonly length: number
  readonly byte: number
}

function damaged(bytes: Uint8Array, { edit, at: share, length, byte }: Edit): Uint8Array {
  const at = Math.floor((share / 65_536) * bytes.length)
  const [before, after] = [bytes.subarray(0, at), bytes.subarray(at)]
  switch (edit) {
    case 'change':
      return Uint8Array.of(...before, byte, ...after.subarray(1))
    case 'flip':
      return Uint8Array.of(...before, (after[0] ?? 0) ^ (1 << (byte % 8)), ...after.subarray(1))
    case 'cut':
      return Uint8Array.of(...before, ...after.subarray(length))
    case 'insert':
      return Uint8Array.of(...before, ...new Uint8Array(length).fill(byte), ...after)
    case 'repeat':
      return Uint8Array.of(...before, ...after.subarray(0, length), ...after)
    default:
      return before
  }
}

/** One edit of JSON at a random place: replaces a value, removes a member, or doubles an element. */
export const jsonDamage: fc.Arbitrary<(json: unknown) => unknown> = fc
  .record({
    steps: fc.array(fc.nat(), { minLength: 1, maxLength: 12 }),
    edit: fc.constantFrom('replace', 'remove', 'double'),
    value: fc.oneof(
      fc.jsonValue(),
      fc.constantFrom<unknown>(
        0,
        1,
        2,
        3,
        4,
        5,
        8,
        255,
        256,
        -0,
        -1,
        0.5,
        1e300,
        '0',
        '1',
        '00',
        '0x',
        '0x0',
        '0x00',
        '18446744073709551616',
      ),
    ),
  })
  .map((damage) => (json) => damagedJson(json, damage))

interface JsonDamage {
  readonly steps: readonly number[]
  readonly edit: string
  readonly value: unknown
}

function damagedJson(json: unknown, { steps, edit, value }: JsonDamage): unknown {
  const [step, ...rest] = steps
  if (typeof json !== 'object' || json === null || step === undefined) return value
  const keys = Object.keys(json)
  const key = keys[step % keys.length]
  if (key === undefined) return value
  const inner: unknown = Reflect.get(json, key)
  const isLast = rest.length === 0
  if (Array.isArray(json)) {
    const at = Number(key)
    if (isLast && edit === 'remove') return json.toSpliced(at, 1)
    if (isLast && edit === 'double') return json.toSpliced(at, 0, inner)
    return json.with(at, damagedJson(inner, { steps: rest, edit, value }))
  }
  const { [key]: _, ...others } = json as Record<string, unknown>
  if (isLast && edit === 'remove') return others
  return { ...others, [key]: damagedJson(inner, { steps: rest, edit, value }) }
}
