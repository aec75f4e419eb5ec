import { computed, signal } from '@preact/signals'
import { type FrameData, document as frameDocument } from '../generated/explorer/frame.ts'
import { type Answer, failed, sendDocument, type TypedDocument } from './graphql.ts'
import { joinedText } from './joined.ts'
import { areWellFormed } from './scalars.ts'

/** The frame: data of the network and the newest milestones that every page needs. The first page requests it together with its own. */

export type Tip = NonNullable<FrameData['strip']>['nodes'][number]

/** The latest frame; `undefined` before the first response. */
export const frame = signal<FrameData | undefined>(undefined)

/** The base token; amounts are shown in the smallest unit while the token is not known. */
export const baseToken = computed(
  () => frame.value?.network.baseToken ?? { tickerSymbol: '', subunit: '', decimals: 0 },
)

/** Milliseconds by which the clock of the gateway is ahead of the browser's clock; 0 if the difference is less than a slot. */
const clockAheadMs = computed(() => {
  const known = frame.value
  if (known === undefined) return 0
  const slotMs = 1000 * known.network.parameters.slotDurationInSeconds
  const aheadMs = Date.parse(known.frame.current.end) - slotMs / 2 - Date.now()
  return Math.abs(aheadMs) > slotMs + 1_000 ? aheadMs : 0
})

/** The current time of the gateway's clock, as Unix time in milliseconds. */
export function gatewayTimeMs(): number {
  return Date.now() + clockAheadMs.value
}

/** Requests the data of a page, together with the frame if it is not known yet. */
export async function fetchWithFrame<Data, Variables extends object>(
  document: TypedDocument<Data, Variables>,
  variables: Variables,
  signal: AbortSignal,
): Promise<Answer<Data>> {
  if (!areWellFormed(document.text, variables)) {
    const isLoaded = frame.peek() !== undefined || (await fetchFrame(signal))
    return failed(isLoaded ? 'BAD_USER_INPUT' : 'OFFLINE', '')
  }
  if (frame.peek() !== undefined) return await sendDocument(document, variables, signal)
  const joined: TypedDocument<Data & FrameData, Variables> = {
    text: joinedText(document.text, frameDocument.text),
  }
  const answer = await sendDocument(joined, variables, signal)
  if (answer.ok) {
    frame.value = answer.data
    // The other fields of the frame cannot be null.
    return { ...answer, failures: answer.failures.filter(({ path: [field] }) => field !== 'strip') }
  }
  // The joined document was refused, but a request for the frame alone may succeed.
  if (answer.failure.code !== 'OFFLINE') await fetchFrame(signal)
  return answer
}

/** Requests only the frame; resolves to whether it was received. */
export async function fetchFrame(signal?: AbortSignal): Promise<boolean> {
  return (await requestFrame(signal)).ok
}

/** Requests only the frame. */
export async function requestFrame(signal?: AbortSignal): Promise<Answer<FrameData>> {
  const answer = await sendDocument(frameDocument, {}, signal)
  if (answer.ok) frame.value = answer.data
  return answer
}

/** The slot at a Unix time in milliseconds. */
export function slotAt(timeMs: number, { network: { parameters } }: FrameData): number {
  const { genesisSlot, genesisUnixTimestamp, slotDurationInSeconds } = parameters
  const seconds = timeMs / 1000 - Number(genesisUnixTimestamp)
  return genesisSlot + Math.floor(seconds / slotDurationInSeconds) + 1
}

/** The start of a slot, as Unix time in milliseconds. */
export function timeOf(slot: number, { network: { parameters } }: FrameData): number {
  const { genesisSlot, genesisUnixTimestamp, slotDurationInSeconds } = parameters
  return 1000 * (Number(genesisUnixTimestamp) + (slot - genesisSlot - 1) * slotDurationInSeconds)
}
