import { grouped } from '../format.ts'
import { type Link, link } from '../live.ts'
import { milestones, pause, paused, resume, waitingCount } from '../milestones.ts'
import { frame } from '../network.ts'
import { MilestoneLink } from '../parts/values/milestone-link.tsx'
import { now } from '../parts/values/time.tsx'
import { texts } from '../texts.ts'

/** Shows how current the page is. */
export function StatusLine({ queryAddress }: { readonly queryAddress: string | undefined }) {
  const [newest] = milestones.value
  const { value: state } = link
  const isPaused = paused.value !== undefined
  return (
    <footer class="status">
      <span class={`link link-${state.state}`}>
        <span class="lamp" aria-hidden="true" />
        <LinkState of={state} />
      </span>
      <Role />
      {newest !== undefined && (
        <>
          <span>
            {texts.status.slot} <MilestoneLink index={newest.index} />
          </span>
          <span id="currency" class="currency">
            {isPaused ? texts.status.waiting(waitingCount.value) : <Behind {...newest} />}
          </span>
          <button type="button" aria-describedby="currency" onClick={isPaused ? resume : pause}>
            {isPaused ? texts.status.resume : texts.status.pause}{' '}
            <span class="unseen">{texts.status.updates}</span>
          </button>
        </>
      )}
      <Cursor />
      {queryAddress !== undefined && (
        <a class="as-query" href={queryAddress}>
          {texts.status.query}
        </a>
      )}
    </footer>
  )
}

/** The state of the connection. Screen readers announce its changes, but not the numbers, which change every second. */
function LinkState({ of }: { readonly of: Link }) {
  return (
    <>
      {/* One element for every state: a new element with this role may not be announced. */}
      <span role="status">{texts.status.link[of.state]}</span>
      {of.state === 'catching-up' && texts.status.slots(grouped(of.slots))}
      {of.state === 'reconnecting' && paused.value === undefined && <Since ms={of.sinceMs} />}
    </>
  )
}

function Since({ ms }: { readonly ms: number }) {
  const seconds = Math.max(0, Math.round((now.value - ms) / 1000))
  return <>{texts.status.since(seconds)}</>
}

function Role() {
  const status = frame.value?.frame
  if (status === undefined) return null
  if (status.mode === 'UPSTREAM') return <span>{texts.status.readOnly}</span>
  return status.role === 'STANDBY' ? <span>{texts.status.standby}</span> : null
}

function Behind({ endedAt }: { readonly endedAt: string }) {
  const seconds = Math.max(0, (now.value - Date.parse(endedAt)) / 1000)
  return (
    <>{texts.status.behind(seconds < 10 ? seconds.toFixed(1) : grouped(Math.round(seconds)))}</>
  )
}

function Cursor() {
  const cursor = milestones.value.find(({ lastCursor }) => lastCursor !== null)?.lastCursor
  if (cursor === undefined || cursor === null) return null
  return (
    <span class="cursor" data-copy={cursor} title={cursor}>
      {texts.status.cursor} <code>{cursor.slice(0, 8)}…</code>
    </span>
  )
}
