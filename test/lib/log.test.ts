import { describe, expect, test } from 'vitest'
import { createLog, type LogLevel } from '../../src/lib/log.ts'
import { createSettableClock } from '../support/settable-clock.ts'

describe('a log line', () => {
  test('has time, level, name and fields', () => {
    const { log, lines } = logAt('debug')
    log.info('slot-committed', { slot: 7, mana: 2n ** 64n })
    expect(lines).toEqual([
      '{"time":"1970-01-01T00:00:01.500Z","level":"info","event":"slot-committed","slot":7,"mana":"18446744073709551616"}\n',
    ])
  })

  test('has bigints as decimal text even if a library has set another form for all bigints', () => {
    const { log, lines } = logAt('debug')
    const own = Object.getOwnPropertyDescriptor(BigInt.prototype, 'toJSON')
    Object.defineProperty(BigInt.prototype, 'toJSON', { value: () => '0x', configurable: true })
    log.info('slot-committed', { mana: 17n })
    if (own === undefined) Reflect.deleteProperty(BigInt.prototype, 'toJSON')
    else Object.defineProperty(BigInt.prototype, 'toJSON', own)
    expect(JSON.parse(lines[0] ?? '').mana).toBe('17')
  })

  test('has an error with its stack and its causes', () => {
    const { log, lines } = logAt('debug')
    log.error('request-failed', { error: new Error('outer', { cause: new Error('inner') }) })
    const { error } = JSON.parse(lines[0] ?? '')
    expect(error).toMatchObject({ name: 'Error', message: 'outer', cause: { message: 'inner' } })
    expect(error.stack).toContain('log.test.ts')
  })
})

describe('the levels that are written at level', () => {
  const rows = [
    ['debug', ['debug', 'info', 'warn', 'error']],
    ['info', ['info', 'warn', 'error']],
    ['warn', ['warn', 'error']],
    ['error', ['error']],
    ['silent', []],
  ] as const
  test.each(rows)('%s', (level, written) => {
    const { log, lines } = logAt(level)
    log.debug('debug')
    log.info('info')
    log.warn('warn')
    log.error('error')
    expect(lines.map((line) => JSON.parse(line).event)).toEqual(written)
  })
})

function logAt(level: LogLevel) {
  const lines: string[] = []
  const clock = createSettableClock(1_500_000_000n)
  return { lines, log: createLog({ clock, write: (line) => void lines.push(line) }, level) }
}
