import { spawnSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import { hasEnded, nameOfThisProcess } from '../../src/node/lease-holder.ts'

const [host = '', pid = '', scope = ''] = nameOfThisProcess().split(':')
const endedPid = spawnSync(process.execPath, ['-e', '0']).pid

describe('a process named as holder of a lease', () => {
  const rows = [
    ['this one lives', `${host}:${pid}:${scope}`, false],
    ['one that has ended is seen so', `${host}:${endedPid}:${scope}`, scope !== ''],
    [
      'the first one of the system lives, though it may be out of reach',
      `${host}:1:${scope}`,
      false,
    ],
    ['of another machine may live', `other-${host}:${endedPid}:${scope}`, false],
    ['of another boot or container may live', `${host}:${endedPid}:00000000`, false],
    ['without a scope may live', `${host}:${endedPid}:`, false],
    ['of an older form may live', `${host}:${endedPid}`, false],
    ['without a name may live', '', false],
  ] as const
  test.each(rows)('%s', (_name, holder, ended) => expect(hasEnded(holder)).toBe(ended))
})
