/** Sorts elements of a file by their keys, in passes over the file with bounded memory. */

/** The place of an element in a file, with its key. */
export interface KeyedPlace {
  readonly key: string
  readonly offset: number
}

/**
 * Returns all places in the order of their keys. Each pass reads all places again and keeps `max` of them. Calls `twice` with the
 * place of a duplicate key.
 */
export async function* inOrder(
  read: () => AsyncIterable<KeyedPlace>,
  twice: (place: KeyedPlace) => never,
  max = defaultMaxPlaces,
): AsyncGenerator<KeyedPlace> {
  for (let after = ''; ; ) {
    const pass = createPass(twice, max)
    for await (const place of read()) if (place.key > after) pass.add(place)
    const { places, isLast } = pass.end()
    yield* places
    if (isLast) return
    after = places.at(-1)?.key ?? after
  }
}

/** Keeps the `max` places with the smallest keys. */
function createPass(twice: (place: KeyedPlace) => never, max: number) {
  let places: KeyedPlace[] = []
  let last: string | undefined

  function add(place: KeyedPlace): void {
    if (last !== undefined && place.key > last) return
    places.push(place)
    if (places.length >= 2 * max) cut()
  }

  function sort(): void {
    places.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : a.offset - b.offset))
    for (const [i, place] of places.entries()) if (place.key === places[i - 1]?.key) twice(place)
  }

  function cut(): void {
    sort()
    if (places.length <= max) return
    places = places.slice(0, max)
    last = places.at(-1)?.key
  }

  return {
    add,
    end: () => {
      cut()
      return { places, isLast: last === undefined }
    },
  }
}

/** Sorting twice this many places takes about 10 ms. */
const defaultMaxPlaces = 8_000
