import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import packageLock from '../../package-lock.json' with { type: 'json' }
import { sbomText } from '../support/sbom.ts'
import { buildImage, type Image } from './dockerfile.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** Builds the image of deploy/Dockerfile with this checkout, which is built already, instead of its build stage. */
export async function imageOfCheckout(folder: string, node: string): Promise<Image> {
  const built = join(folder, 'built')
  await layOutBuilt(join(built, 'build'))
  const given = new Map([['build', built]])
  return buildImage(join(root, 'deploy/Dockerfile'), { context: root, folder, given, node })
}

/** Creates the result of the stage `build`: links into the checkout, without development packages. */
async function layOutBuilt(to: string): Promise<void> {
  mkdirSync(join(to, 'data'), { recursive: true })
  const packages = Object.entries(packageLock.packages).flatMap(([path, locked]) =>
    'dev' in locked || !/^node_modules\/(@[^/]+\/)?[^/]+$/.test(path) ? [] : [path],
  )
  for (const path of ['package.json', 'LICENSE', 'dist', 'prisma', ...packages]) {
    mkdirSync(dirname(join(to, path)), { recursive: true })
    symlinkSync(join(root, path), join(to, path))
  }
  writeFileSync(join(to, 'sbom.cdx.json'), await sbomText())
}
