import { type ReadonlySignal, useComputed, useSignal } from '@preact/signals'
import { useMemo, useRef } from 'preact/hooks'
import { texts } from '../../texts.ts'
import { detailTexts } from '../../texts-details.ts'
import { Section } from '../facts.tsx'
import { Copy } from '../values/copy.tsx'
import {
  afterKey,
  bytesInRow,
  closedIn,
  holds,
  type Run,
  runsOf,
  type SerializedField,
  type TreeRow,
  treeOf,
  visibleOf,
} from './byte-rows.ts'
import { FieldValue } from './field-value.tsx'

/** The fields of a value as a tree next to its bytes. The field under the pointer or the focus is marked in both. */

const words = detailTexts.byteTree

interface ByteTreeProps {
  readonly fields: readonly SerializedField[]
  readonly bytes: string
}

/** Index of the field under the pointer or the focus; -1 for none. */
type Pointed = ReadonlySignal<number>

export function ByteTree({ fields, bytes }: ByteTreeProps) {
  const tree = useMemo(() => treeOf(fields), [fields])
  const rows = useMemo(() => runsOf(bytes, tree), [bytes, tree])
  const { list, pointed, focused, closed, events } = useFieldEvents(tree)
  return (
    <Section
      title={words.title}
      aside={
        <span class="muted">
          {texts.bytes.count((bytes.length - 2) / 2)} <Copy text={bytes} />
        </span>
      }
    >
      <p class="byte-place" aria-hidden="true">
        <Place tree={tree} pointed={pointed} />
      </p>
      {/* The handlers receive the events of the fields and the bytes inside. */}
      <div class="byte-tree" {...events}>
        <div ref={list} class="byte-fields" role="tree" aria-label={words.fields}>
          {visibleOf(tree, closed.value).map((index) => (
            <FieldRow
              key={index}
              index={index}
              row={tree[index] as TreeRow}
              isClosed={closed.value.has(index)}
              isStop={focused.value === index}
              pointed={pointed}
            />
          ))}
        </div>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard can scroll only a focused element */}
        <pre class="bytes" tabIndex={0}>
          {rows.map((runs, n) => (
            <ByteRow key={n} row={n} runs={runs} tree={tree} pointed={pointed} />
          ))}
        </pre>
      </div>
    </Section>
  )
}

/** The pointed, focused and collapsed fields of a tree, and the event handlers that change them. */
function useFieldEvents(tree: readonly TreeRow[]) {
  const pointed = useSignal(-1)
  const focused = useSignal(0)
  const closed = useSignal<ReadonlySet<number>>(new Set(closedIn(tree)))
  const list = useRef<HTMLDivElement>(null)

  const point = ({ target }: Event) => {
    pointed.value = fieldAt(target)
  }
  const leave = () => {
    pointed.value = -1
  }
  const focus = (index: number) => {
    focused.value = index
    list.current?.querySelector<HTMLElement>(`[data-field="${index}"]`)?.focus()
  }
  const toggle = (index: number) => {
    const isClosed = closed.value.has(index)
    closed.value = new Set(
      isClosed ? [...closed.value].filter((one) => one !== index) : [...closed.value, index],
    )
  }
  const click = ({ target }: Event) => {
    const index = fieldAt(target)
    if (index === -1) return
    if (!list.current?.contains(target as Node)) {
      // A click on a byte expands the fields that hide its field.
      closed.value = new Set([...closed.value].filter((one) => !holds(tree, one, index)))
    } else if (tree[index]?.field.value === null) toggle(index)
    requestAnimationFrame(() => focus(index))
  }
  const press = (event: KeyboardEvent) => {
    const to = afterKey(event.key, { tree, closed: closed.value, at: focused.value })
    if (to === undefined || !list.current?.contains(event.target as Node)) return
    event.preventDefault()
    if (to === 'TOGGLE') toggle(focused.value)
    else focus(to)
  }
  const events = {
    onPointerOver: point,
    onPointerLeave: leave,
    onFocusIn: point,
    onFocusOut: leave,
    onClick: click,
    onKeyDown: press,
  }
  return { list, pointed, focused, closed, events }
}

function fieldAt(target: EventTarget | null): number {
  const field = target instanceof Element ? target.closest<HTMLElement>('[data-field]') : null
  return Number(field?.dataset.field ?? -1)
}

interface FieldRowProps {
  readonly index: number
  readonly row: TreeRow
  readonly isClosed: boolean
  readonly isStop: boolean
  readonly pointed: Pointed
}

function FieldRow({ index, row, isClosed, isStop, pointed }: FieldRowProps) {
  const { field, name, level, end } = row
  const isParent = field.value === null
  // A collapsed field is also marked for the fields that it hides.
  const mark = useComputed(() => {
    const at = pointed.value
    const isMarked = at === index || (isClosed && at > index && at < end)
    return isMarked ? 'byte-field marked' : 'byte-field'
  })
  return (
    <div
      class={mark}
      role="treeitem"
      aria-level={level}
      aria-expanded={isParent ? !isClosed : undefined}
      tabIndex={isStop ? 0 : -1}
      data-field={index}
      style={{ '--level': level }}
    >
      <span class="byte-name">
        {isParent && <span aria-hidden="true">{isClosed ? '▸ ' : '▾ '}</span>}
        {name}
      </span>{' '}
      <span class="byte-value" title={field.value ?? undefined}>
        {field.value === null ? (
          field.type
        ) : (
          <FieldValue of={field.value} type={field.type} name={name} />
        )}
      </span>{' '}
      <span class="byte-about muted">{field.about}</span>
    </div>
  )
}

interface ByteRowProps {
  readonly row: number
  readonly runs: readonly Run[]
  readonly tree: readonly TreeRow[]
  readonly pointed: Pointed
}

function ByteRow({ row, runs, tree, pointed }: ByteRowProps) {
  return (
    <span>
      <span class="muted">{(bytesInRow * row).toString(16).padStart(4, '0')} </span>
      {runs.map(({ field, text }) => [
        ' ',
        <ByteRun key={field} field={field} text={text} tree={tree} pointed={pointed} />,
      ])}
      {'\n'}
    </span>
  )
}

interface ByteRunProps extends Omit<ByteRowProps, 'row' | 'runs'> {
  readonly field: number
  readonly text: string
}

function ByteRun({ field, text, tree, pointed }: ByteRunProps) {
  const mark = useComputed(() => {
    const at = pointed.value
    return at === field || (at >= 0 && holds(tree, at, field)) ? 'marked' : undefined
  })
  return (
    <span class={mark} data-field={field}>
      {text}
    </span>
  )
}

function Place({
  tree,
  pointed,
}: {
  readonly tree: readonly TreeRow[]
  readonly pointed: Pointed
}) {
  const field = tree[pointed.value]?.field
  if (field === undefined) return <span class="muted">{words.hint}</span>
  const { path, offset, length } = field
  return (
    <>
      <code>{path}</code> <span class="muted">{words.place(offset, length)}</span>
    </>
  )
}
