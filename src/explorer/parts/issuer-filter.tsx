import { linkTo, type Place } from '../router.ts'
import { chainTexts } from '../texts-chains.ts'
import { Id } from './values/id.tsx'

interface IssuerFilterProps {
  readonly place: Place
  readonly of: 'account' | 'address'
}

/** The issuer that a link has set as the filter of a list, and a link that removes the filter. */
export function IssuerFilter({ place, of }: IssuerFilterProps) {
  const { issuer, after: _, ...others } = Object.fromEntries(place.query)
  if (issuer === undefined) return null
  return (
    <span>
      {chainTexts.lists.issuedBy} <Id of={of} id={issuer} />{' '}
      <a class="without" href={linkTo(place.name, place.parameters, others)}>
        {chainTexts.lists.all}
      </a>
    </span>
  )
}
