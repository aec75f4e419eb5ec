import { grouped, never } from '../../format.ts'
import { milestones } from '../../milestones.ts'
import { frame, timeOf } from '../../network.ts'
import { linkTo } from '../../router.ts'
import { texts } from '../../texts.ts'
import { chainTexts } from '../../texts-chains.ts'
import { MilestoneLink } from './milestone-link.tsx'
import { FullTime, utc } from './time.tsx'

/** Slots and epochs, which may be in the future. */

/** A slot with its end time. */
export function Slot({ index }: { readonly index: number }) {
  const network = frame.value
  if (index === never) return <span>{chainTexts.never}</span>
  return (
    <span>
      {chainTexts.slot} {grouped(index)}
      {network !== undefined && (
        <span class="muted">
          {' '}
          ({utc(timeOf(index + 1, network))} {texts.time.utc})
        </span>
      )}
    </span>
  )
}

/** A range of epochs, both ends inclusive; 0 is an open end. */
export function Epochs({ from, to }: { readonly from: number; readonly to: number | null }) {
  if (to !== null && to !== 0 && to < from) return <span>{chainTexts.noEpoch}</span>
  return (
    <span>
      {chainTexts.fromEpoch} <Epoch index={from} />
      {to !== null && to !== 0 && to !== never && (
        <>
          {' '}
          {chainTexts.toEpoch} <Epoch index={to} />
        </>
      )}
    </span>
  )
}

/** An epoch as a link. An epoch that has not started has no page. */
export function Epoch({ index }: { readonly index: number }) {
  if (!isBegun(index)) return <span>{grouped(index)}</span>
  return (
    <a class="epoch" href={linkTo('epoch', { index: String(index) })}>
      {grouped(index)}
    </a>
  )
}

export function isBegun(epoch: number): boolean {
  // The frame may be older than the newest milestone.
  const tip = Math.max(frame.value?.frame.current.slot ?? 0, milestones.value[0]?.index ?? 0)
  return tip >= firstSlotOf(epoch)
}

export function firstSlotOf(epoch: number): number {
  const { genesisSlot = 0, slotsPerEpochExponent = 0 } = frame.value?.network.parameters ?? {}
  return genesisSlot + epoch * 2 ** slotsPerEpochExponent
}

/** A slot as a link to its milestone. A slot that is not committed yet has no milestone. */
export function SlotLink({ of: slot }: { readonly of: number }) {
  const newest = milestones.value[0]?.index ?? 0
  return slot > newest ? <span>{grouped(slot)}</span> : <MilestoneLink index={slot} />
}

/** A committed slot with its end time. */
export function CommittedSlot({
  of: { slot, end },
}: {
  readonly of: { readonly slot: number; readonly end: string }
}) {
  return (
    <>
      <SlotLink of={slot} />{' '}
      <span class="muted">
        <FullTime at={end} />
      </span>
    </>
  )
}
