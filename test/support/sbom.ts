import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** The packages of production as a bill of materials: CycloneDX, by `npm sbom`. */

/** What a test reads of it. */
export interface Sbom {
  readonly bomFormat: string
  readonly specVersion: string
  readonly metadata: { readonly component: { readonly name: string; readonly version: string } }
  readonly components: readonly SbomComponent[]
}

interface SbomComponent {
  readonly name: string
  readonly version: string
  readonly purl: string
  readonly hashes?: readonly { readonly alg: string }[]
  readonly licenses?: readonly unknown[]
}

/**
 * The text of the bill. `npm sbom --omit=dev` (npm 11) leaves out what a package of development needs too, `graphql` and `ws`
 * among it, so npm is given a lock file without those of development.
 */
export async function sbomText(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'ledger-gateway-sbom-'))
  // npm names the product after its folder.
  const cwd = join(folder, 'ledger-gateway')
  try {
    await mkdir(cwd)
    writeFileSync(join(cwd, 'package.json'), JSON.stringify(forProduction(read('package.json'))))
    writeFileSync(join(cwd, 'package-lock.json'), JSON.stringify(productionLock()))
    const words = ['sbom', '--package-lock-only', '--sbom-format=cyclonedx']
    const { stdout } = await promisify(execFile)('npm', [...words, '--sbom-type=application'], {
      cwd,
      maxBuffer: 16 * 1024 * 1024,
    })
    return stdout
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** A package of the lock file, as far as it is asked for here. */
export interface LockedPackage {
  readonly version?: string
  readonly dev?: boolean
  readonly link?: boolean
  readonly devDependencies?: object
}

/** The packages of production by their paths. */
export function productionPackages(): readonly (readonly [path: string, LockedPackage])[] {
  return Object.entries(productionLock().packages).filter(([path]) => path !== '')
}

function productionLock(): { readonly packages: Readonly<Record<string, LockedPackage>> } {
  const { packages, ...lock }: { packages: Record<string, LockedPackage> } =
    read('package-lock.json')
  const kept = Object.entries(packages).flatMap(([path, entry]) => {
    if (path === '') return [[path, forProduction(entry)] as const]
    const isOfProduction = path.startsWith('node_modules/') && !entry.dev && !entry.link
    return isOfProduction ? [[path, entry] as const] : []
  })
  return { ...lock, packages: Object.fromEntries(kept) }
}

function forProduction({ devDependencies: _, ...rest }: LockedPackage): LockedPackage {
  return rest
}

function read(file: string) {
  return JSON.parse(readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8'))
}
