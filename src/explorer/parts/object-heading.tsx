import type { ComponentChildren } from 'preact'
import { PlainId } from './values/id.tsx'

interface ObjectHeadingProps {
  readonly title: ComponentChildren
  readonly id: string
  readonly isSigned?: boolean
  /** The state of the object, next to the title. */
  readonly children: ComponentChildren
}

/** The title of the page of an object, with the state of the object and its id. */
export function ObjectHeading({ title, id, isSigned = false, children }: ObjectHeadingProps) {
  return (
    <>
      <div class="heading">
        <h1>{title}</h1>
        {children}
      </div>
      <PlainId id={id} isSigned={isSigned} />
    </>
  )
}
