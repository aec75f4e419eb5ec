import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ProcessIo } from '../../src/cli/command.ts'
import { submit } from '../../src/cli/submit.ts'
import { bytesToHex } from '../../src/lib/hex.ts'
import { Block } from '../../src/protocol/block.ts'
import { print } from '../../src/protocol/schema/schema.ts'
import { restJson } from '../support/rest.ts'
import { runCommand } from '../support/run-command.ts'
import { startGateway, type TestGateway } from '../support/start-gateway.ts'
import {
  blockOf,
  genesisOutputs,
  offerOf,
  ownedBy,
  paymentOf,
  slotNow,
  taggedData,
  untilHealth,
  user,
} from '../support/wallet.ts'

/** `ledger-gateway submit`: every form of a block, waiting for its state, and errors with code and path. */

let gateway: TestGateway
let folder = ''
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'ledger-gateway-submit-'))
  gateway = await startGateway({ env: { SUBMIT: 'token' } })
  await untilHealth(gateway.url)
  writeFileSync(join(folder, 'token'), `${await gateway.token('block:submit')}\n`)
})
afterAll(async () => {
  await gateway.close()
  rmSync(folder, { recursive: true })
})

function run(words: readonly string[], given: Partial<ProcessIo> = {}) {
  const access = ['--url', gateway.url, '--token-file', join(folder, 'token')]
  return runCommand(submit, [...words, ...access], given)
}

/** Writes a file with these contents and returns its path. */
function fileOf(contents: string | Uint8Array): string {
  const path = join(folder, 'block')
  writeFileSync(path, contents)
  return path
}

const lines = (text: string) =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))

describe('submit sends', () => {
  test('a block as JSON, as text, as bytes and from standard input, and prints its id', async () => {
    const { block, bytes, blockId } = blockOf(await offerOf(gateway.url), taggedData('0x01', '0x'))
    const forms = [JSON.stringify(print(Block, block)), `${bytesToHex(bytes)}\n`, bytes]
    for (const form of forms) {
      expect(await run([fileOf(form)])).toEqual({
        code: 0,
        stdout: `${JSON.stringify({ blockId })}\n`,
        stderr: '',
      })
    }
    const stdin = Readable.from([bytes.subarray(0, 50), bytes.subarray(50)])
    const shown = await run(['-'], { stdin, isTerminal: true })
    expect(shown).toEqual({ code: 0, stdout: `${blockId}\n`, stderr: '' })
  })

  test('a payload without a block, for which the node builds one', async () => {
    const payload = JSON.stringify({ type: 0, tag: '0x02', data: '0x' })
    const { code, stdout, stderr } = await run([fileOf(payload), '--wait', 'accepted'])
    expect([code, stderr]).toEqual([0, ''])
    const [{ blockId }, ...states] = lines(stdout)
    const { body } = await restJson(`${gateway.url}/api/core/v3/blocks/${blockId}`)
    expect(body.payload).toMatchObject({ type: 0, tag: '0x02' })
    expect(states.at(-1)).toMatchObject({ blockId, transaction: null })
  })

  test('a transaction and waits until it is committed', async () => {
    const offer = await offerOf(gateway.url)
    const [spend] = await genesisOutputs(gateway.url, user(3))
    if (spend === undefined) throw new Error('address 3 has no genesis output')
    const { network } = offer
    const outputs = [ownedBy(user(4), 1_000_000_000n)]
    const creationSlot = slotNow(network)
    const payment = paymentOf(network, { spend, key: user(3), outputs, creationSlot })
    const { bytes, blockId } = blockOf(offer, payment.payload)
    const { code, stdout, stderr } = await run([fileOf(bytes), '--wait', 'committed'])
    expect([code, stderr]).toEqual([0, ''])
    const [first, ...states] = lines(stdout)
    expect(first).toEqual({ blockId })
    const { transactionId } = payment
    expect(states.at(-1)).toEqual({
      blockId,
      state: 'FINALIZED',
      transaction: { transactionId, state: 'FINALIZED', failure: null },
    })
    const again = await run([fileOf(bytes), '--wait', 'accepted'], { isTerminal: true })
    expect(again.stdout).toBe(`${blockId}\nfinalized, transaction ${transactionId} finalized\n`)

    // The input is spent: the block is accepted, and its transaction fails.
    const second = {
      spend,
      key: user(3),
      outputs: [ownedBy(user(5), 1_000_000_000n)],
      creationSlot,
    }
    const late = blockOf(await offerOf(gateway.url), paymentOf(network, second).payload)
    const failed = await run([fileOf(late.bytes), '--wait', 'accepted'])
    expect(failed.code).toBe(1)
    expect(failed.stderr).toMatch(
      /^ledger-gateway submit: the transaction failed: .+ \(3 InputAlreadySpent\)\n$/,
    )
    expect(lines(failed.stdout).at(-1)).toMatchObject({ transaction: { state: 'FAILED' } })
  })
})

describe('submit reports an error', () => {
  test.each([
    ['of the block with code and path', '{"header":{}}', 'BLOCK_MALFORMED at input.json.header.'],
    ['of the payload', '{"type":0,"tag":"0x0"}', 'tag'],
    ['of the bytes', '0x03', 'BLOCK_MALFORMED at input.bytes'],
    ['of a text that is not a block', 'hello', 'BLOCK_MALFORMED at input.bytes'],
    [
      'of a text that is not JSON',
      '{"header":',
      'the input is not JSON: Unexpected end of JSON input',
    ],
  ])('%s', async (_name, contents, sentence) => {
    const { code, stdout, stderr } = await run([fileOf(contents), '--wait', 'accepted'])
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toMatch(/^ledger-gateway submit: .+\n$/)
    expect(stderr).toContain(sentence)
  })

  test('of the token', async () => {
    const { bytes } = blockOf(await offerOf(gateway.url), undefined)
    const refused = await runCommand(submit, [fileOf(bytes), '--url', gateway.url])
    expect(refused).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^ledger-gateway submit: [A-Z_]+: /),
    })
  })

  test('of the file, the arguments and the URL', async () => {
    expect(await run(['nowhere.json'])).toMatchObject({
      code: 1,
      stderr:
        'ledger-gateway submit: FILE names nowhere.json, which cannot be read: no such file or directory (ENOENT)\n',
    })
    expect(await runCommand(submit, [fileOf('x'), '--token-file', '.'])).toMatchObject({
      code: 1,
      stderr:
        'ledger-gateway submit: --token-file names ., which cannot be read: it is a directory (EISDIR)\n',
    })
    // It may be the token itself.
    expect(await runCommand(submit, [fileOf('x'), '--token-file', 'hush'])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/--token-file names a file, .* \(ENOENT\)\n$/),
    })
    expect(await run([fileOf('x'), '--wait', 'forever'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--wait must be accepted or committed, not forever'),
    })
    expect(await runCommand(submit, [fileOf('x'), '--url', 'http://127.0.0.1:1'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('no server is reachable'),
    })
  })
})

test('submit names an interruption while it reads standard input', async () => {
  const stdin = new Readable({ read() {} })
  const stopped = Promise.resolve('SIGINT' as const)
  // As in the process.
  void stopped.then(() => stdin.destroy())
  expect(await runCommand(submit, ['-'], { stdin, stopped })).toEqual({
    code: 1,
    stdout: '',
    stderr: 'ledger-gateway submit: interrupted\n',
  })
})
