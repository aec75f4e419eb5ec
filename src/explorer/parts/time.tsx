import { computed, effect, type ReadonlySignal, signal } from '@preact/signals'
import { useMemo } from 'preact/hooks'
import { gatewayTimeMs } from '../network.ts'
import { texts } from '../texts.ts'

/** The time now by the clock of the gateway, in milliseconds: moves once a second while the tab is seen. */
export const now = signal(Date.now())

export function startClock(): void {
  effect(() => {
    now.value = gatewayTimeMs()
  })
  setInterval(() => {
    if (!document.hidden) now.value = gatewayTimeMs()
  }, 1_000)
}

/** A moment as "12 s ago", with its UTC and local time in the tip. */
export function Time({ at }: { readonly at: string }) {
  const ms = Date.parse(at)
  return (
    <time dateTime={at} title={bothTimes(ms)}>
      {useAgo(ms)}
    </time>
  )
}

/** A moment in full: UTC, and how long ago. */
export function WholeTime({ at }: { readonly at: string }) {
  const ms = Date.parse(at)
  return (
    <time dateTime={at} title={bothTimes(ms)}>
      {utc(ms)}{' '}
      <span class="muted">
        {texts.time.utc}, {useAgo(ms)}
      </span>
    </time>
  )
}

/** How long ago it was, as a text of its own: each second changes the texts that differ, and draws nothing else anew. */
function useAgo(ms: number): ReadonlySignal<string> {
  return useMemo(() => computed(() => ago(now.value - ms, ms)), [ms])
}

function ago(passedMs: number, ms: number): string {
  const seconds = Math.round(passedMs / 1000)
  if (seconds < -1) return utc(ms)
  if (seconds < 1) return texts.time.now
  if (seconds < 60) return texts.time.seconds(seconds)
  if (seconds < 3_600) return texts.time.minutes(Math.floor(seconds / 60))
  if (seconds < 172_800) return texts.time.hours(Math.floor(seconds / 3_600))
  return utc(ms).slice(0, 10)
}

export function utc(ms: number): string {
  return new Date(ms).toISOString().slice(0, 19).replace('T', ' ')
}

function bothTimes(ms: number): string {
  return `${utc(ms)} ${texts.time.utc}\n${localTime.format(ms)}`
}

/** Made once: a list has a time in each row, and making one takes longer than using it. */
const localTime = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'long' })
