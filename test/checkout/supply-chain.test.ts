import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import packageJson from '../../package.json' with { type: 'json' }
import { productionPackages, type Sbom, sbomText } from '../support/sbom.ts'

/** Third-party packages in production: their number, their licences and the bill of materials. */

/** Licences that require only their notice. */
const allowedLicences = ['0BSD', 'Apache-2.0', 'BlueOak-1.0.0', 'BSD-3-Clause', 'ISC', 'MIT']

/** The limit is raised only with a reason in docs/decisions/001-dependencies.md. */
const maxPackages = 95

const packages = productionPackages().map(([path, { version }]) => {
  const file = new URL(`../../${path}/package.json`, import.meta.url)
  const { name, license } = JSON.parse(readFileSync(file, 'utf8'))
  return { name, version, license, path }
})

test('production has no more packages than the limit', () => {
  expect(packages.length).toBeGreaterThan(20)
  expect(packages.length).toBeLessThanOrEqual(maxPackages)
})

test('each package has an allowed licence', () => {
  const others = packages.filter(({ license }) => !allowedLicences.includes(license))
  expect(others).toEqual([])
})

test('no package builds or downloads a program', () => {
  const builds = packages.filter(({ path }) => {
    const file = new URL(`../../${path}/package.json`, import.meta.url)
    const { scripts = {}, gypfile } = JSON.parse(readFileSync(file, 'utf8'))
    const hooks = ['preinstall', 'install', 'postinstall']
    return gypfile === true || hooks.some((hook) => hook in scripts)
  })
  expect(builds.map(({ name }) => name)).toEqual([])
})

test('only libsodium has native code, and it may be left out', () => {
  const isNative = ({ path }: { readonly path: string }) =>
    readdirSync(new URL(`../../${path}`, import.meta.url), { recursive: true }).some((file) =>
      String(file).endsWith('.node'),
    )
  expect(packages.filter(isNative).map(({ name }) => name)).toEqual(['sodium-native'])
  expect(Object.keys(packageJson.optionalDependencies)).toEqual(['sodium-native'])
})

test('the bill of materials has exactly these packages, with digests and licences', async () => {
  const bill: Sbom = JSON.parse(await sbomText())
  expect([bill.bomFormat, bill.specVersion]).toEqual(['CycloneDX', '1.5'])
  const { name, version } = packageJson
  expect(bill.metadata.component).toMatchObject({ name, version })
  const ids = (of: readonly { readonly name: string; readonly version?: string | undefined }[]) =>
    [...new Set(of.map((one) => `${one.name}@${one.version}`))].toSorted()
  expect(ids(bill.components)).toEqual(ids(packages))
  for (const { name, purl, hashes, licenses } of bill.components) {
    expect({ name, hashes, licenses }).toMatchObject({
      hashes: [{ alg: 'SHA-512' }],
      licenses: [expect.anything()],
    })
    expect(purl).toMatch(/^pkg:npm\//)
  }
})
