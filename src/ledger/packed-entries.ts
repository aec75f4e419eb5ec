import type { Hex } from '../lib/hex.ts'
import {
  createPackedBytes,
  maxPackedLength,
  offsetOf,
  type PackedBytes,
} from '../lib/packed-bytes.ts'
import type { Steps } from '../lib/turns.ts'
import { indexOf } from '../protocol/ids.ts'
import type { OutputId } from '../protocol/primitives.ts'
import {
  type LogEntries,
  type LogEntry,
  logOrderSteps,
  maskToRoles,
  rolesToMask,
} from './updates.ts'

/**
 * The log entries of a slot. Many entries are held as bytes, about 90 for each: as objects they take four times as much, and a commit
 * needs all of them until it has written the last one.
 */
export interface PackedEntries {
  add(entry: LogEntry): void
  /** Sorts the entries in log order, in steps. No entry may be added afterwards. */
  sortSteps(): Steps<LogEntries>
}

/** Creates an empty list. At most `maxObjects` entries remain objects, which is faster. */
export function createPackedEntries(maxObjects = defaultMaxEntries): PackedEntries {
  const few: LogEntry[] = []
  let many: PackedEntries | undefined

  function add(entry: LogEntry): void {
    if (many !== undefined) {
      many.add(entry)
      return
    }
    few.push(entry)
    if (few.length <= maxObjects) return
    many = packedEntries()
    for (const former of few) many.add(former)
    few.length = 0
  }

  return { add, sortSteps: () => many?.sortSteps() ?? logOrderSteps(few) }
}

/** More entries than a usual slot has. */
const defaultMaxEntries = 4_000

function packedEntries(): PackedEntries {
  const bytes = createPackedBytes()
  const scratch = Buffer.alloc(maxPackedLength)
  /** The places of the entries by the first bytes of their ids, because sorting all of them in one step would block the event loop. */
  const parts = new Map<number, number[]>()
  let length = 0

  function add({ outputId, isSpent, class: updateClass, address, roles: held }: LogEntry): void {
    scratch.write(outputId.slice(2, -4), 0, 'hex')
    // The index is the last part of the id, with its lower byte first.
    scratch.writeUInt16BE(indexOf(outputId), idLength - 2)
    scratch[isSpentAt] = isSpent ? 1 : 0
    scratch[classAt] = updateClass === 'OWNED' ? 0 : 1
    const end = addressAt + scratch.write(address.slice(2), addressAt, 'hex')
    scratch.writeUInt16BE(rolesToMask(held), end)
    const part = scratch.readUInt16BE() >> 4
    const place = bytes.add(scratch.subarray(0, end + 2))
    const known = parts.get(part)
    if (known === undefined) parts.set(part, [place])
    else known.push(place)
    length++
  }

  function* sortSteps(): Steps<LogEntries> {
    const sorted = new Float64Array(length)
    let at = 0
    for (const [, places] of [...parts].sort(([a], [b]) => a - b)) {
      sorted.set(places.sort(comparePlaces(bytes)), at)
      at += places.length
      yield undefined
    }
    parts.clear()
    return { length, [Symbol.iterator]: () => entriesAt(bytes, sorted) }
  }

  return { add, sortSteps }
}

// An entry: the transaction id, the index with its upper byte first, whether it is spent, the class, the address, the roles.
const idLength = 38
const isSpentAt = idLength
const classAt = isSpentAt + 1
const addressAt = classAt + 1

/** The order of the bytes without the roles is the log order (`compareLogEntries`). */
function comparePlaces(bytes: PackedBytes) {
  return (a: number, b: number): number => {
    const [fromA, fromB] = [offsetOf(a), offsetOf(b)]
    const [toA, toB] = [fromA + bytes.lengthOf(a) - 2, fromB + bytes.lengthOf(b) - 2]
    return bytes.blockOf(a).compare(bytes.blockOf(b), fromB, toB, fromA, toA)
  }
}

function* entriesAt(bytes: PackedBytes, places: Float64Array): Generator<LogEntry> {
  for (const place of places) {
    const block = bytes.blockOf(place)
    const from = offsetOf(place)
    const end = from + bytes.lengthOf(place) - 2
    const index = block.readUInt16BE(from + idLength - 2)
    const transactionId = block.toString('hex', from, from + idLength - 2)
    const low = ((index & 255) << 8) | (index >> 8)
    yield {
      outputId: `0x${transactionId}${low.toString(16).padStart(4, '0')}` as OutputId,
      isSpent: block[from + isSpentAt] === 1,
      class: block[from + classAt] === 0 ? 'OWNED' : 'MENTIONED',
      address: `0x${block.toString('hex', from + addressAt, end)}` as Hex,
      roles: maskToRoles(block.readUInt16BE(end)),
    }
  }
}
