import { computed, effect, type ReadonlySignal, signal } from '@preact/signals'
import { useMemo } from 'preact/hooks'
import { paused } from '../../milestones.ts'
import { gatewayTimeMs } from '../../network.ts'
import { texts } from '../../texts.ts'

/** The current time of the gateway's clock, in milliseconds; updated once per second while the tab is visible. */
const clock = signal(Date.now())

/** The time that pages show: the current time, or the time at which the user paused them. */
export const now = computed(() => paused.value?.timeMs ?? clock.value)

export function startClock(): void {
  effect(() => {
    clock.value = gatewayTimeMs()
  })
  const tick = () => {
    if (!document.hidden) clock.value = gatewayTimeMs()
  }
  setInterval(tick, 1_000)
  // A milestone that arrives when the tab is shown again would otherwise be later than the time at which the tab was hidden.
  document.addEventListener('visibilitychange', tick)
}

/** A time as "12 s ago", with the UTC and local time in the tooltip. */
export function Time({ at }: { readonly at: string }) {
  const ms = Date.parse(at)
  return (
    <time dateTime={at} title={bothTimes(ms)}>
      {useAgo(ms)}
    </time>
  )
}

/** A time in full: UTC and relative. */
export function FullTime({ at }: { readonly at: string }) {
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

/** The relative time as a signal: each second updates only the texts that change, without rendering anything else. */
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

/** Created once: a list has a time in each row, and creating a formatter takes longer than using it. */
const localTime = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'long' })
