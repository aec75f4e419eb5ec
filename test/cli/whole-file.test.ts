import { spawnSync } from 'node:child_process'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
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

test('replaces the file that a symbolic link names, and keeps the link', async () => {
  const disk = join(folder, 'disk')
  mkdirSync(disk)
  writeFileSync(join(disk, 'newest'), 'former')
  symlinkSync(join('disk', 'newest'), path)
  const written = await writeWholeFile({ path, existing: 'REPLACED' }, async (out, part) => {
    // On the disk of the file, which may be another one than that of the link.
    expect(dirname(part)).toBe(realpathSync(disk))
    out.write('new')
    return undefined
  })
  expect(written).toBeUndefined()
  expect(readlinkSync(path)).toBe(join('disk', 'newest'))
  expect(readFileSync(join(disk, 'newest'), 'utf8')).toBe('new')
  expect([readdirSync(folder), readdirSync(disk)]).toEqual([['disk', 'file'], ['newest']])
})

test('removes the files of a command in another container that wrote nothing for a day', async () => {
  const day = 86_400
  const now = Date.now() / 1_000
  const rows = [
    ['file.a_1_00000000_0123abcd.part', now - day - 60],
    ['file.a_1_00000000_0123abcd.part-wal', now],
    ['file.b_1_00000000_0123abcd.part', now - day + 60],
    // The file of a running command is older than what it wrote last.
    ['file.b_1_00000000_0123abcd.part-journal', now - 2 * day],
    ['file.c_1_00000000_0123abcd.part-journal', now],
    ['other.a_1_00000000_0123abcd.part', 0],
  ] as const
  for (const [name, writtenAt] of rows) {
    writeFileSync(join(folder, name), '')
    utimesSync(join(folder, name), writtenAt, writtenAt)
  }
  expect(await writeWholeFile(kept(), async () => undefined)).toBeUndefined()
  expect(readdirSync(folder)).toEqual([
    'file',
    'file.b_1_00000000_0123abcd.part',
    'file.b_1_00000000_0123abcd.part-journal',
    'other.a_1_00000000_0123abcd.part',
  ])
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
