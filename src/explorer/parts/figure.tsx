import type { ComponentChildren } from 'preact'

interface FigureProps {
  readonly value: string
  readonly name: ComponentChildren
  readonly note: string
}

/** A number in large type, with its name and a note. */
export function Figure({ value, name, note }: FigureProps) {
  return (
    <p class="figure">
      <strong>{value}</strong> <span>{name}</span> <span class="muted">{note}</span>
    </p>
  )
}
