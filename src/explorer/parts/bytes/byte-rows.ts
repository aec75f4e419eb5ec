/** Arranges the fields of serialized bytes as a tree and the bytes in rows, and relates fields to bytes. */

/** A field with its position in the bytes. A field precedes the fields that it contains. */
export interface SerializedField {
  readonly path: string
  readonly type: string
  readonly about: string | null
  readonly offset: number
  readonly length: number
  readonly value: string | null
}

export interface TreeRow {
  readonly field: SerializedField
  /** Last segment of the path. */
  readonly name: string
  /** Depth in the tree; 1 for the outermost fields. */
  readonly level: number
  /** Index of the first field after the fields that it contains. */
  readonly end: number
}

/** Builds the tree, without the field of the whole value. */
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

/** Maximum number of fields of a tree that is fully expanded at first. */
const maxExpanded = 250

/** The fields that are collapsed at first: the deep fields of a large tree. */
export function closedIn(tree: readonly TreeRow[]): readonly number[] {
  if (tree.length <= maxExpanded) return []
  return [...tree.keys()].filter((n) => (tree[n]?.level ?? 0) > 3 && tree[n]?.field.value === null)
}

/** Whether a field contains another field, directly or indirectly. */
export function holds(tree: readonly TreeRow[], outer: number, inner: number): boolean {
  return outer < inner && inner < (tree[outer]?.end ?? 0)
}

/** The fields that are not hidden by a collapsed field. */
export function visibleOf(tree: readonly TreeRow[], closed: ReadonlySet<number>): number[] {
  const visible: number[] = []
  for (let n = 0; n < tree.length; n = closed.has(n) ? (tree[n]?.end ?? n + 1) : n + 1) {
    visible.push(n)
  }
  return visible
}

/** The state of keyboard navigation in a tree. */
export interface Walk {
  readonly tree: readonly TreeRow[]
  readonly closed: ReadonlySet<number>
  readonly at: number
}

/** The effect of a key in a tree: up and down move through the visible fields, left and right collapse and expand. */
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

/** The bytes of one field in one row. */
export interface Run {
  /** Index of the field in the tree. */
  readonly field: number
  /** Two hexadecimal digits per byte, separated by spaces. */
  readonly text: string
}

export const bytesInRow = 16

/** Splits the bytes into rows, and each row into runs of one leaf field. */
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
