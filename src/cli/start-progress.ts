import { setTimeout as delay } from 'node:timers/promises'
import type { ProcessIo } from './command.ts'
import { type GatewayClient, members } from './gateway-client.ts'
import { createProgress, type Progress } from './progress.ts'

/** Shows on a terminal the progress of a gateway that starts or catches up, read from its health. */

/** Progress bars of the steps of a start. */
export interface StartProgress extends Pick<Progress, 'above'> {
  /** Shows progress until the gateway is healthy or the signal aborts; rejects if the health cannot be read. */
  until(client: Pick<GatewayClient, 'health'>, signal: AbortSignal): Promise<void>
}

export function createStartProgress(process: ProcessIo): StartProgress {
  let shown: { readonly step: string; readonly progress: Progress } | undefined

  function show({ step, unit, done, of }: Step): void {
    if (shown?.step !== step) {
      shown?.progress.end()
      shown = { step, progress: createProgress(process, step, unit) }
    }
    shown.progress.show({ rows: done, ofRows: of })
  }

  return {
    above: (print) => (shown === undefined ? print() : shown.progress.above(print)),
    until: async (client, signal) => {
      let firstSlot: number | undefined
      try {
        while (!signal.aborted) {
          const { isHealthy, starting, following } = await client.health()
          if (isHealthy === true) return
          if (starting !== undefined) show(startingStep(members(starting)))
          if (following !== undefined) {
            const { committedSlot, newestSlot } = members(following)
            firstSlot ??= Number(committedSlot)
            const [done, of] = [Number(committedSlot) - firstSlot, Number(newestSlot) - firstSlot]
            show({ step: 'catching up with the nodes', unit: 'slots', done, of })
          }
          // `delay` rejects on abort; the loop condition handles it.
          await delay(pollMs, undefined, { signal }).catch(() => {})
        }
      } finally {
        shown?.progress.end()
      }
    },
  }
}

const pollMs = 100

interface Step {
  readonly step: string
  readonly unit: string
  readonly done: number
  readonly of: number
}

function startingStep({ step, done, of }: Readonly<Record<string, unknown>>): Step {
  const unit = step === 'building tries' ? 'outputs' : 'slots'
  return { step: String(step), unit, done: Number(done), of: Number(of) }
}
