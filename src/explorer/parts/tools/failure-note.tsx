import type { ComponentChildren } from 'preact'

interface FailureNoteProps {
  /** `alert` if it answers something that the user did. */
  readonly role: 'note' | 'alert'
  readonly title: string
  readonly children: ComponentChildren
}

export function FailureNote({ role, title, children }: FailureNoteProps) {
  return (
    <div class="failure" role={role}>
      <strong>
        <span aria-hidden="true">✕</span> {title}
      </strong>
      {children}
    </div>
  )
}
