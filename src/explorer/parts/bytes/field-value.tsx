import { grouped, shortened } from '../../format.ts'
import type { PageName } from '../../paths.ts'
import { linkTo } from '../../router.ts'
import { texts } from '../../texts.ts'
import { detailTexts } from '../../texts-details.ts'
import { Amount } from '../values/amount.tsx'
import { Slot } from '../values/moments.tsx'
import { utc } from '../values/time.tsx'

/** The value of a serialized field in the unit of its type. An id links to the page of its object. */

const words = detailTexts.byteTree

interface FieldValueProps {
  /** Decimal digits, hexadecimal bytes or text. */
  readonly of: string
  readonly type: string
  readonly name: string
}

export function FieldValue({ of: value, type, name }: FieldValueProps) {
  const page = pageByType[type]
  // An id of zeros is a placeholder for an id that is not known yet.
  if (page !== undefined && /[^0x]/.test(value)) {
    return (
      <a class="link-in-text" href={linkTo(page, { id: value })}>
        {shortened(value)}
      </a>
    )
  }
  if (value.startsWith('0x')) return <>{value === '0x' ? words.empty : shortened(value)}</>
  if (type === 'BaseToken') return <Amount value={value} />
  if (type === 'SlotIndex') return <Slot index={Number(value)} />
  if (name === 'issuingTime') return <>{issuingTime(value)}</>
  const isNumber = /^[0-9]+$/.test(value) && (type === 'Mana' || /^UInt|Index$/.test(type))
  if (!isNumber) return <>{value}</>
  return (
    <>
      {name === 'networkId' ? value : grouped(value)}
      {type === 'Mana' && <span class="unit"> {words.mana}</span>}
    </>
  )
}

const pageByType: Readonly<Record<string, PageName>> = {
  TransactionId: 'transaction',
  BlockId: 'block',
  AccountId: 'account',
  AnchorId: 'anchor',
  NftId: 'nft',
  DelegationId: 'delegation',
  FoundryId: 'foundry',
}

/** Formats an issuing time. It is in nanoseconds, but dates in JavaScript have milliseconds. */
function issuingTime(nanoseconds: string): string {
  return `${utc(Number(BigInt(nanoseconds) / 1_000_000n))} ${texts.time.utc}`
}
