import { afterEach, expect, test } from 'vitest'
import { makeFolder, type Program, startProgram } from '../support/program.ts'
import { rest, restJson } from '../support/rest.ts'
import { acceptedId, post, refusal } from '../support/submit.ts'
import { until } from '../support/until.ts'
import { blockOf, offerOf, taggedData, untilCommitted, untilHealth } from '../support/wallet.ts'

/** Two processes on one SQLite file: the second one serves what the first one writes, and writes after the end of the first one. */

const programs = new Set<Program>()
const folders = new Set<ReturnType<typeof makeFolder>>()
afterEach(async () => {
  for (const program of programs) await program.end('SIGKILL')
  programs.clear()
  for (const folder of folders) folder.remove()
  folders.clear()
})

test.each(['SIGTERM', 'SIGKILL'] as const)(
  'a second process on a file serves reads at once and writes after %s of the first',
  async (signal) => {
    const folder = makeFolder()
    folders.add(folder)
    const former = await startServing(folder)
    await untilHealth(former.url)
    const next = await startServing(folder)
    expect(await healthOf(next)).toMatchObject({
      isHealthy: false,
      reason: 'lease lost',
      role: 'standby',
    })
    const { milestoneIndex } = await restJson(`${former.url}/api/gateway/v1/log`)
    await untilCommitted(next.url, milestoneIndex + 1)

    const kept = blockOf(await offerOf(former.url), taggedData('0x', '0x01'))
    await acceptedId(await post(former.url, kept.bytes))
    const early = blockOf(await offerOf(former.url), taggedData('0x', '0x02'))
    const [status, message] = await refusal(await post(next.url, early.bytes))
    expect([status, message]).toEqual([503, expect.stringContaining('lease lost')])

    const ended = former.end(signal)
    await until(async () => (await healthOf(next)).role === 'writer')
    await ended
    programs.delete(former)
    await untilHealth(next.url)
    await untilFinal(next.url, kept.blockId)
    const late = blockOf(await offerOf(next.url), taggedData('0x', '0x03'))
    expect(await acceptedId(await post(next.url, late.bytes))).toBe(late.blockId)
    await untilFinal(next.url, late.blockId)
  },
  120_000,
)

async function startServing({ databaseUrl, databaseFile }: ReturnType<typeof makeFolder>) {
  const program = await startProgram({ DATABASE_URL: databaseUrl, KEY_FILE: `${databaseFile}.key` })
  programs.add(program)
  return program
}

async function healthOf({ url }: Program): Promise<{ readonly role?: string }> {
  return (await rest(`${url}/health`)).json()
}

async function untilFinal(url: string, blockId: string): Promise<void> {
  const isFinal = async () => {
    const response = await rest(`${url}/api/core/v3/blocks/${blockId}/metadata`)
    return response.ok && (await response.json()).blockState === 'finalized'
  }
  await until(isFinal, { what: `${blockId} is final` })
}
