import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { writeWholeFile } from '../../src/cli/whole-file.ts'

/** A file that appears only when it is complete. */

let folder: string
let path: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ledger-gateway-file-'))
  path = join(folder, 'file')
})
afterEach(() => rmSync(folder, { recursive: true }))

test('of two commands with the same path, the second one writes the file', async () => {
  let finishSecond = () => {}
  const finishing = new Promise<void>((resolve) => {
    finishSecond = resolve
  })
  let second: Promise<string | undefined> | undefined
  const first = await writeWholeFile(path, async () => {
    await new Promise<void>((begun) => {
      second = writeWholeFile(path, async (file) => {
        file.write('begun')
        begun()
        await finishing
        file.write(' and complete')
        return undefined
      })
    })
    return undefined
  })
  expect(first).toBe(`another command writes ${path}`)
  expect(existsSync(path)).toBe(false)
  finishSecond()
  expect(await second).toBeUndefined()
  expect(readFileSync(path, 'utf8')).toBe('begun and complete')
  expect(readdirSync(folder)).toEqual(['file'])
})

test('a failure of the stream is reported, and closes the file once', async () => {
  async function* lines() {
    yield 'begun'
    throw new Error('no more lines')
  }
  const written = writeWholeFile(path, async (out) => {
    await pipeline(lines, out)
    return undefined
  })
  await expect(written).rejects.toThrow('no more lines')
  expect(readdirSync(folder)).toEqual([])
})

test('a failure leaves neither the file nor the journal of SQLite', async () => {
  const written = writeWholeFile(path, async (_out, part) => {
    writeFileSync(`${part}-journal`, '')
    throw new Error('the disk is full')
  })
  await expect(written).rejects.toThrow('the disk is full')
  expect(readdirSync(folder)).toEqual([])
})
