import { spawnSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import { hasEnded, nameOfThisProcess } from '../../src/node/lease-holder.ts'

const [host = '', pid = '', scope = ''] = nameOfThisProcess().split(':')
const endedPid = spawnSync(process.execPath, ['-e', '0']).pid

describe('the holder of a lease', () => {
  const rows = [
    ['is alive if it is this process', `${host}:${pid}:${scope}`, false],
    ['has ended if its process has ended', `${host}:${endedPid}:${scope}`, scope !== ''],
    [
      'is alive if it is the first process of the system, although it may be inaccessible',
      `${host}:1:${scope}`,
      false,
    ],
    ['may be alive on another machine', `other-${host}:${endedPid}:${scope}`, false],
    ['may be alive in another boot or container', `${host}:${endedPid}:00000000`, false],
    ['may be alive if it has no scope', `${host}:${endedPid}:`, false],
    ['may be alive if it has an older form', `${host}:${endedPid}`, false],
    ['may be alive if it has no name', '', false],
  ] as const
  test.each(rows)('%s', (_name, holder, ended) => expect(hasEnded(holder)).toBe(ended))
})
