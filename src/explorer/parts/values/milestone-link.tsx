import { grouped } from '../../format.ts'
import { linkTo } from '../../router.ts'

export function MilestoneLink({ index }: { readonly index: number }) {
  return <a href={linkTo('milestone', { index: String(index) })}>{grouped(index)}</a>
}
