import { computed, signal } from '@preact/signals'
import { type FrameData, document as frameDocument } from '../generated/explorer/frame.ts'
import { type Answer, ask, failed, type TypedDocument } from './graphql.ts'
import { joinedText } from './joined.ts'
import { areWellFormed } from './scalars.ts'

/** What every page needs of the network and the newest milestones: it comes with the first page, in the same request. */

export type Tip = NonNullable<FrameData['strip']>['nodes'][number]

/** The frame as it was asked for last; `undefined` before the first answer. */
export const frame = signal<FrameData | undefined>(undefined)

/** The base token; the smallest unit alone while it is not known. */
export const baseToken = computed(
  () => frame.value?.network.baseToken ?? { tickerSymbol: '', subunit: '', decimals: 0 },
)

/** By how much the clock of the gateway is ahead of the reader's, where that is more than a slot. */
const clockAheadMs = computed(() => {
  const known = frame.value
  if (known === undefined) return 0
  const slotMs = 1000 * known.network.parameters.slotDurationInSeconds
  const aheadMs = Date.parse(known.frame.current.end) - slotMs / 2 - Date.now()
  return Math.abs(aheadMs) > slotMs + 1_000 ? aheadMs : 0
})

/** The time by the clock of the gateway, in milliseconds of Unix time. */
export function gatewayTimeMs(): number {
  return Date.now() + clockAheadMs.value
}

/** Asks for a page, and with it for the frame where that is not known or out of date. */
export async function askWithFrame<Data, Variables extends object>(
  document: TypedDocument<Data, Variables>,
  variables: Variables,
  signal: AbortSignal,
): Promise<Answer<Data>> {
  if (!areWellFormed(document.text, variables)) {
    const isThere = frame.peek() !== undefined || (await askForFrame(signal))
    return failed(isThere ? 'BAD_USER_INPUT' : 'OFFLINE', '')
  }
  if (frame.peek() !== undefined) return await ask(document, variables, signal)
  const joined: TypedDocument<Data & FrameData, Variables> = {
    text: joinedText(document.text, frameDocument.text),
  }
  const answer = await ask(joined, variables, signal)
  if (answer.ok) frame.value = answer.data
  // The whole document was refused, but the frame may be had.
  else if (answer.failure.code !== 'OFFLINE') await askForFrame(signal)
  return answer
}

/** Asks for the frame alone. */
export async function askForFrame(signal?: AbortSignal): Promise<boolean> {
  const answer = await ask(frameDocument, {}, signal)
  if (answer.ok) frame.value = answer.data
  return answer.ok
}

/** The slot at a time, in milliseconds of Unix time. */
export function slotAt(timeMs: number, { network: { parameters } }: FrameData): number {
  const { genesisSlot, genesisUnixTimestamp, slotDurationInSeconds } = parameters
  const seconds = timeMs / 1000 - Number(genesisUnixTimestamp)
  return genesisSlot + Math.floor(seconds / slotDurationInSeconds) + 1
}

/** When a slot begins, in milliseconds of Unix time. */
export function timeOf(slot: number, { network: { parameters } }: FrameData): number {
  const { genesisSlot, genesisUnixTimestamp, slotDurationInSeconds } = parameters
  return 1000 * (Number(genesisUnixTimestamp) + (slot - genesisSlot - 1) * slotDurationInSeconds)
}
