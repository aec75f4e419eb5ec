import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, statSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, matchesGlob, relative, resolve } from 'node:path'
import { DockerfileParser, type Instruction, ModifiableInstruction } from 'dockerfile-ast'
import { assert } from '../../src/lib/assert.ts'

/** Executes a Dockerfile without Docker: each stage is a folder, and the base image is the machine itself. */

/** The last stage: its folder and the options of its process. */
export interface Image {
  /** The root folder. */
  readonly root: string
  readonly workdir: string
  readonly env: Readonly<Record<string, string>>
  /** Numbers of the user and group. */
  readonly user: string
  readonly volumes: readonly string[]
  /** Entry point and command. */
  readonly command: readonly string[]
  readonly healthcheck: readonly string[]
}

/** Options for the execution of a Dockerfile. */
export interface Build {
  /** The build context. */
  readonly context: string
  /** The folder in which the folders of the stages are created. */
  readonly folder: string
  /** Folders of existing stages by name. Their instructions are skipped, and links in them are followed. */
  readonly given?: ReadonlyMap<string, string>
  /** The Node program that replaces the one of the base image. */
  readonly node: string
}

interface Stage {
  readonly root: string
  readonly name: string | undefined
  readonly isGiven: boolean
  workdir: string
  env: Record<string, string>
  user: string
  readonly volumes: string[]
  readonly words: { ENTRYPOINT: string[]; CMD: string[]; HEALTHCHECK: string[] }
}

/** Returns the instructions of a Dockerfile in order. */
export function instructionsOf(text: string): readonly Instruction[] {
  return DockerfileParser.parse(text).getInstructions()
}

/** Executes all instructions of a Dockerfile. The folder of the last stage is the image. */
export function buildImage(file: string, build: Build): Image {
  const stages: Stage[] = []
  const ignored = linesOf(`${file}.dockerignore`)
  for (const instruction of instructionsOf(readFileSync(file, 'utf8'))) {
    const keyword = instruction.getKeyword()
    if (keyword === 'FROM') {
      stages.push(stageOf(instruction, stages.length, build))
      continue
    }
    const stage = stages.at(-1)
    assert(stage !== undefined, `expected FROM before ${keyword}`)
    if (!stage.isGiven) execute(instruction, stage, { ...build, stages, ignored })
  }
  const last = stages.at(-1)
  assert(last !== undefined, `expected a stage in ${file}`)
  const { root, workdir, env, user, volumes, words } = last
  const command = [...words.ENTRYPOINT, ...words.CMD]
  return { root, workdir, env, user, volumes, command, healthcheck: words.HEALTHCHECK }
}

interface StageBuild extends Build {
  readonly stages: readonly Stage[]
  readonly ignored: readonly string[]
}

function execute(instruction: Instruction, stage: Stage, build: StageBuild): void {
  const keyword = instruction.getKeyword()
  const words = instruction.getArguments().map((argument) => argument.getValue())
  const [first = ''] = words
  switch (keyword) {
    case 'WORKDIR':
      stage.workdir = resolve(stage.workdir, first)
      mkdirSync(inside(stage, '.'), { recursive: true })
      return
    case 'ENV':
      for (const word of words) {
        const [name = '', value = ''] = word.split(/=(.*)/s)
        stage.env[name] = value
      }
      return
    case 'COPY':
      copy(instruction, words, stage, build)
      return
    case 'RUN':
      execFileSync('/bin/sh', ['-ec', instruction.getRawArgumentsContent() ?? ''], {
        cwd: inside(stage, '.'),
        // The environment of the machine names its proxies and registries, which Docker gets by its configuration.
        env: { ...process.env, ...stage.env, PATH: `${dirname(build.node)}:${process.env.PATH}` },
        stdio: ['ignore', 'inherit', 'inherit'],
      })
      return
    case 'USER':
      stage.user = first
      return
    case 'VOLUME':
      stage.volumes.push(...words.map((path) => resolve(stage.workdir, path)))
      return
    case 'EXPOSE':
      return
    case 'HEALTHCHECK':
    case 'ENTRYPOINT':
    case 'CMD':
      stage.words[keyword] = jsonWords(instruction)
      return
    default:
      throw new Error(`${keyword}: not a supported instruction`)
  }
}

function stageOf(from: Instruction, index: number, { folder, given }: Build): Stage {
  const [, , name] = from.getArguments().map((argument) => argument.getValue())
  const there = name === undefined ? undefined : given?.get(name)
  const root = there ?? join(folder, name ?? String(index))
  mkdirSync(root, { recursive: true })
  const words = { ENTRYPOINT: [], CMD: [], HEALTHCHECK: [] }
  const isGiven = there !== undefined
  return { root, name, isGiven, workdir: '/', env: {}, user: '0:0', volumes: [], words }
}

/** Executes COPY from the context, or from another stage with `--from`. */
function copy(
  instruction: Instruction,
  words: readonly string[],
  stage: Stage,
  build: StageBuild,
): void {
  const flags = flagsOf(instruction)
  const from = flags.get('from')
  const source = build.stages.find(({ name }) => name !== undefined && name === from)
  assert(from === undefined || source !== undefined, `expected a stage in COPY: ${from}`)
  const isLeftOut = source === undefined ? ignoring(build) : () => false
  const target = words.at(-1) ?? ''
  const to = inside(stage, target)
  for (const word of words.slice(0, -1)) {
    const path = source === undefined ? join(build.context, word) : join(source.root, word)
    // A file that is copied into a folder keeps its name; a folder is copied by its contents.
    const isNamed = statSync(path).isFile() && target.endsWith('/')
    cpSync(path, isNamed ? join(to, basename(path)) : to, {
      recursive: true,
      ...(source?.isGiven ? { dereference: true } : { verbatimSymlinks: true }),
      filter: (one) => !isLeftOut(one),
    })
  }
  const owner = flags.get('chown')
  if (owner !== undefined && process.getuid?.() === 0) execFileSync('chown', ['-R', owner, to])
}

function ignoring({ context, ignored }: StageBuild): (path: string) => boolean {
  return (path) => {
    const name = relative(context, path)
    return ignored.some((pattern) => matchesGlob(name, pattern))
  }
}

function flagsOf(instruction: Instruction): ReadonlyMap<string, string> {
  const flags = instruction instanceof ModifiableInstruction ? instruction.getFlags() : []
  return new Map(flags.map((flag) => [flag.getName(), flag.getValue() ?? '']))
}

/** Returns the words of an instruction in exec form. */
function jsonWords(instruction: Instruction): string[] {
  const [words] = /\[.+\]/s.exec(instruction.getArgumentsContent() ?? '') ?? []
  assert(words !== undefined, `expected ${instruction.getKeyword()} in exec form`)
  return JSON.parse(words)
}

function inside({ root, workdir }: Stage, path: string): string {
  return join(root, isAbsolute(path) ? path : join(workdir, path))
}

function linesOf(file: string): readonly string[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
}
