import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { validate } from 'dockerfile-utils'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { rest } from '../support/rest.ts'
import { imageOfCheckout } from './built.ts'
import { canIsolate, startInImage } from './container.ts'
import { type Image, instructionsOf } from './dockerfile.ts'
import { collect, healthcheck, untilServed } from './served.ts'

/**
 * The image of deploy/Dockerfile. The stage that builds is this checkout, which is built; what comes after is carried out line
 * by line. `npm run test:deploy` carries out all of it.
 */

const root = fileURLToPath(new URL('../..', import.meta.url))
const file = join(root, 'deploy/Dockerfile')
const text = readFileSync(file, 'utf8')
const node = process.execPath

let folder = ''
let image: Image
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'ledger-gateway-image-'))
  image = await imageOfCheckout(folder, node)
}, 120_000)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('the Dockerfile', () => {
  test('has no finding of the linter, which does find something in a wrong one', () => {
    expect(validate(text)).toEqual([])
    expect(validate(text.replace('CMD ["serve"]', "CMD ['serve']"))).not.toEqual([])
    expect(validate(text.replace('WORKDIR /app', 'WORKDIRS /app'))).not.toEqual([])
  })

  test('ends in a stage of its own, with a user who is not root and a check that asks without other programs', () => {
    const instructions = instructionsOf(text)
    const words = (keyword: string) =>
      instructions
        .filter((one) => one.getKeyword() === keyword)
        .map((one) => one.getArgumentsContent())
    expect(words('FROM')).toHaveLength(2)
    expect(words('ADD')).toEqual([])
    // A number, for Kubernetes cannot see of a name that it is not root.
    expect(image.user).toMatch(/^[1-9]\d*:[1-9]\d*$/)
    expect(image.healthcheck[0]).toBe('node')
    expect(image.healthcheck.join(' ')).toContain('/health/live')
    expect(image.volumes).toEqual(['/app/data'])
  })

  test('leaves out of its context what would go into the image, or make it large', () => {
    const ignored = readFileSync(`${file}.dockerignore`, 'utf8').split('\n')
    for (const name of ['.git', 'data', 'dist', 'src/generated', '**/node_modules']) {
      expect(ignored).toContain(name)
    }
    expect(ignored).not.toContain('test')
  })
})

describe('the image', () => {
  test('has the program and its bill of materials, and neither sources nor tests', () => {
    const app = join(image.root, 'app')
    const folders = ['data', 'dist', 'node_modules', 'prisma']
    const files = ['LICENSE', 'package.json', 'sbom.cdx.json']
    expect(readdirSync(app).sort()).toEqual([...files, ...folders].sort())
    const bill = JSON.parse(readFileSync(join(app, 'sbom.cdx.json'), 'utf8'))
    expect(bill).toMatchObject({ bomFormat: 'CycloneDX' })
    expect(bill.components.length).toBeGreaterThan(20)
  })

  test(`runs as its user on a root that it can only read${canIsolate() ? '' : ' (not here: as this user in its folder)'}`, {
    timeout: 120_000,
  }, async () => {
    const env = { PORT: '0', DRAIN_DELAY: '0' }
    const gateway = startInImage(image, { words: image.command, env, node })
    onTestFinished(() => {
      gateway.kill('SIGKILL')
    })
    const { url, ended } = await untilServed(gateway)
    if (canIsolate()) {
      const status = readFileSync(`/proc/${gateway.pid}/status`, 'utf8')
      expect(status).toMatch(/^Uid:\t1000\t1000\t1000\t1000$/m)
      expect(status).toMatch(/^CapEff:\t0+$/m)
      expect(status).toMatch(/^NoNewPrivs:\t1$/m)
      const write = ['node', '-e', "require('fs').writeFileSync('/app/dist/other.js', '')"]
      const writing = startInImage(image, { words: write, env, node })
      const said = collect(writing)
      expect(await once(writing, 'exit')).toEqual([1, null])
      expect(said()).toContain('EROFS')
    }
    expect(statSync(join(image.root, 'app/data/ledger-gateway.db')).size).toBeGreaterThan(0)
    expect((await rest(`${url}/health/live`)).status).toBe(200)
    expect(await healthcheck(image, node, url)).toBe(0)
    gateway.kill('SIGTERM')
    expect(await ended).toEqual([0, null])
    expect(await healthcheck(image, node, url)).toBe(1)
  })
})
