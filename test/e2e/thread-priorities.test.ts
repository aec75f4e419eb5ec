import { readdirSync, readFileSync } from 'node:fs'
import { getPriority } from 'node:os'
import { expect, test } from 'vitest'
import { makeFolder, startProgram } from '../support/program.ts'
import { acceptedId, post } from '../support/submit.ts'
import { blockOf, offerOf, taggedData, untilHealth } from '../support/wallet.ts'

/** The priorities of the threads of a started gateway. */

/** The nice values of the threads that are lower than that of the event loop. */
function lowered(pid: number | undefined): number[] {
  const niceOf = (thread: string | number) =>
    Number(readFileSync(`/proc/${pid}/task/${thread}/stat`, 'utf8').split(') ')[1]?.split(' ')[16])
  const values = readdirSync(`/proc/${pid}/task`).map(niceOf)
  return values.filter((value) => value > niceOf(pid ?? 0))
}

test.runIf(process.platform === 'linux' && getPriority() === 0)(
  'writes and signature checks have a lower priority than reads',
  async () => {
    const folder = makeFolder()
    const gateway = await startProgram({ DATABASE_URL: folder.databaseUrl })
    try {
      await untilHealth(gateway.url)
      expect(lowered(gateway.process.pid)).toEqual([3])
      const { bytes } = blockOf(await offerOf(gateway.url), taggedData('0x', '0x'))
      await acceptedId(await post(gateway.url, bytes))
      expect(lowered(gateway.process.pid)).toEqual([3, 3])
    } finally {
      await gateway.end('SIGTERM')
      folder.remove()
    }
  },
)
