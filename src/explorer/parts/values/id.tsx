import { shortened } from '../../format.ts'
import type { PageName, pagePaths } from '../../paths.ts'
import { linkTo } from '../../router.ts'
import { Copy } from './copy.tsx'
import { Sign } from './sign.tsx'

/** The kind of an object with an id, by the name of its page. */
export type IdOf = {
  [Name in PageName]: (typeof pagePaths)[Name] extends `${string}:${string}` ? Name : never
}[PageName]

interface IdProps {
  readonly of: IdOf
  readonly id: string
  /** Whether to show the whole id, where there is room for it. */
  readonly isWhole?: boolean
}

/** An id as a link with a copy button. The id is shortened; the focus and the tooltip show the whole id. */
export function Id({ of, id, isWhole = false }: IdProps) {
  const parameter =
    of === 'address' ? 'address' : of === 'milestone' || of === 'epoch' ? 'index' : 'id'
  return (
    <span class={isWhole ? 'id id-whole' : 'id'} data-copy={id}>
      {hasSign(of) && <Sign of={id} />}
      <a href={linkTo(of, { [parameter]: id })} title={id}>
        {isWhole ? id : shortened(id)}
      </a>
      <Copy isQuiet={!isWhole} />
    </span>
  )
}

/** An id without a link: the object has no page, or its page is open. */
export function PlainId({
  id,
  isSigned = false,
}: {
  readonly id: string
  readonly isSigned?: boolean
}) {
  return (
    <span class="id id-whole" data-copy={id}>
      {isSigned && <Sign of={id} />}
      <span>{id}</span>
      <Copy />
    </span>
  )
}

function hasSign(of: IdOf): boolean {
  return of !== 'milestone' && of !== 'epoch' && of !== 'block' && of !== 'output'
}
