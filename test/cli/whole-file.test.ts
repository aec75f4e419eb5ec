import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { writeWholeFile } from '../../src/cli/whole-file.ts'
import { nameOfThisProcess } from '../../src/node/lease-holder.ts'

/** A file that appears only when it is complete. */

let folder: string
let path: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ledger-gateway-file-'))
  path = join(folder, 'file')
})
afterEach(() => rmSync(folder, { recursive: true }))

const kept = () => ({ path, existing: 'KEPT' }) as const

test('of two commands with the same path, the first one to end writes the file', async () => {
  const second = await writeWholeFile(kept(), async (out, part) => {
    out.write('second')
    const first = await writeWholeFile(kept(), async (file, otherPart) => {
      expect(otherPart).not.toBe(part)
      file.write('first')
      return undefined
    })
    expect(first).toBeUndefined()
    return undefined
  })
  expect(second).toBe(`${path} already exists`)
  expect(readFileSync(path, 'utf8')).toBe('first')
  expect(readdirSync(folder)).toEqual(['file'])
})

test('replaces a file only if it may, and no other name', async () => {
  writeFileSync(path, 'former')
  writeFileSync(`${path}.part`, 'mine')
  const write = async (out: Writable) => void out.write('new')
  expect(await writeWholeFile(kept(), write)).toBe(`${path} already exists`)
  expect(readFileSync(path, 'utf8')).toBe('former')
  expect(await writeWholeFile({ path, existing: 'REPLACED' }, write)).toBeUndefined()
  expect(readFileSync(path, 'utf8')).toBe('new')
  expect(readFileSync(`${path}.part`, 'utf8')).toBe('mine')
  rmSync(path)
  symlinkSync('lost', path)
  expect(await writeWholeFile(kept(), write)).toBe(`${path} already exists`)
  expect(readdirSync(folder)).toEqual(['file', 'file.part'])
})

test('removes the files of a killed command, and not those of a running one', async () => {
  const { pid } = spawnSync(process.execPath, ['--version'])
  const nameOf = (owner: number) =>
    `file.${nameOfThisProcess().replace(`:${process.pid}:`, `_${owner}_`)}_0123abcd.part`
  const running = nameOf(process.ppid)
  for (const name of [running, nameOf(pid), `${nameOf(pid)}-wal`]) {
    writeFileSync(join(folder, name), '')
  }
  expect(await writeWholeFile(kept(), async () => undefined)).toBeUndefined()
  expect(readdirSync(folder)).toEqual(['file', running])
})

test('a failure of the stream is reported, and closes the file once', async () => {
  async function* lines() {
    yield 'begun'
    throw new Error('no more lines')
  }
  const written = writeWholeFile(kept(), async (out) => {
    await pipeline(lines, out)
    return undefined
  })
  await expect(written).rejects.toThrow('no more lines')
  expect(readdirSync(folder)).toEqual([])
})

test('a failure leaves neither the file nor the journal of SQLite', async () => {
  const written = writeWholeFile(kept(), async (_out, part) => {
    writeFileSync(`${part}-journal`, '')
    throw new Error('the disk is full')
  })
  await expect(written).rejects.toThrow('the disk is full')
  expect(readdirSync(folder)).toEqual([])
})
