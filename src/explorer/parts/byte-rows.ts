/** The fields of serialized bytes as a tree, and the bytes in rows, so that each can be shown in the other. */

/** A field with its place in the bytes; each stands before those it is made of. */
export interface SerializedField {
  readonly path: string
  readonly type: string
  readonly about: string | null
  readonly offset: number
  readonly length: number
  readonly value: string | null
}

/** A field in the tree. */
export interface TreeRow {
  readonly field: SerializedField
  /** The last part of its path. */
  readonly name: string
  /** 1 for the outermost. */
  readonly level: number
  /** The index of the first field after those that it is made of. */
  readonly end: number
}

/** The tree without the whole itself, by index. */
export function treeOf([whole, ...fields]: readonly SerializedField[]): TreeRow[] {
  const rows: { -readonly [K in keyof TreeRow]: TreeRow[K] }[] = []
  const open: (typeof rows)[number][] = []
  for (const field of fields) {
    closeUpTo(field.offset)
    const above = open.at(-1)?.field ?? whole
    const name = above?.path ? field.path.slice(above.path.length + 1) : field.path
    const row = { field, name, level: open.length + 1, end: rows.length + 1 }
    rows.push(row)
    if (field.value === null) open.push(row)
  }
  closeUpTo(Number.POSITIVE_INFINITY)
  return rows

  function closeUpTo(offset: number): void {
    for (let last = open.at(-1); last !== undefined; last = open.at(-1)) {
      if (offset < last.field.offset + last.field.length) return
      last.end = rows.length
      open.pop()
    }
  }
}

const mostOpen = 250

/** The fields that are closed at first: of many, those that lie deep. */
export function closedIn(tree: readonly TreeRow[]): readonly number[] {
  if (tree.length <= mostOpen) return []
  return [...tree.keys()].filter((n) => (tree[n]?.level ?? 0) > 3 && tree[n]?.field.value === null)
}

/** Whether a field is made of another, itself or through others. */
export function holds(tree: readonly TreeRow[], outer: number, inner: number): boolean {
  return outer < inner && inner < (tree[outer]?.end ?? 0)
}

/** The fields that no closed one hides. */
export function visibleOf(tree: readonly TreeRow[], closed: ReadonlySet<number>): number[] {
  const visible: number[] = []
  for (let n = 0; n < tree.length; n = closed.has(n) ? (tree[n]?.end ?? n + 1) : n + 1) {
    visible.push(n)
  }
  return visible
}

/** Where a reader is in a tree. */
export interface Walk {
  readonly tree: readonly TreeRow[]
  readonly closed: ReadonlySet<number>
  readonly at: number
}

/** What a key does in a tree: up and down walk through what is seen, left and right close and open. */
export function afterKey(key: string, { tree, closed, at }: Walk): number | 'TOGGLE' | undefined {
  const visible = visibleOf(tree, closed)
  const place = visible.indexOf(at)
  const isParent = tree[at]?.field.value === null
  switch (key) {
    case 'ArrowDown':
      return visible[place + 1]
    case 'ArrowUp':
      return visible[place - 1]
    case 'Home':
      return visible[0]
    case 'End':
      return visible.at(-1)
    case 'ArrowRight':
      if (!isParent) return undefined
      return closed.has(at) ? 'TOGGLE' : visible[place + 1]
    case 'ArrowLeft':
      if (isParent && !closed.has(at)) return 'TOGGLE'
      return visible.findLast((index) => holds(tree, index, at))
    default:
      return undefined
  }
}

/** Bytes of one field in one row. */
export interface Run {
  /** The index of the field in the tree. */
  readonly field: number
  /** Two digits a byte, with spaces. */
  readonly text: string
}

export const bytesInRow = 16

/** The bytes in rows, each in runs of one leaf. */
export function runsOf(hex: string, tree: readonly TreeRow[]): Run[][] {
  const bytes = hex.slice(2).match(/../g) ?? []
  const rows: Run[][] = Array.from({ length: Math.ceil(bytes.length / bytesInRow) }, () => [])
  for (const [index, { field }] of tree.entries()) {
    if (field.value === null) continue
    const end = field.offset + field.length
    for (let at = field.offset; at < end; ) {
      const row = Math.floor(at / bytesInRow)
      const until = Math.min(end, (row + 1) * bytesInRow)
      rows[row]?.push({ field: index, text: bytes.slice(at, until).join(' ') })
      at = until
    }
  }
  return rows
}
