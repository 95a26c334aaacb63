// The generators that make clients of the OpenAPI document, and how each is made, compiled and run. Each
// has a folder of its own, in which the document is `openapi.json`.

export type Step = readonly string[]

export type Generator = {
  readonly name: string
  /** Programs that must be on this machine. */
  readonly needs: readonly string[]
  /** The program that uses the client, and where it stands among its files. */
  readonly program: readonly [file: string, to: string]
  readonly generate: readonly Step[]
  readonly compile: readonly Step[]
  readonly run: Step
}

/** The folder of the tools; each path has the tool's version, so that another version is fetched. */
export type Tools = ReturnType<typeof toolsIn>

const NPM_PACKAGES = {
  'openapi-typescript': '7.13.0',
  'openapi-fetch': '0.17.0',
  '@hey-api/openapi-ts': '0.95.0',
  typescript: '5.9.3',
  '@types/node': '24.3.0',
}
const PYTHON_PACKAGES = [
  'openapi-python-client==0.29.1',
  'mypy==2.4.1',
  'urllib3==2.5.0',
  'python-dateutil==2.9.0',
  'types-python-dateutil==2.9.0.20250822',
]
const GENERATOR_VERSION = '7.25.0'
const DEPENDENCY_PLUGIN = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1'

const TSC = ['--noEmit', '--strict', '--skipLibCheck', '--target', 'esnext', '--module', 'esnext']
const TSC_MORE = [
  '--moduleResolution',
  'bundler',
  '--allowImportingTsExtensions',
  '--types',
  'node',
]

/** The folders of the tools in `cache`, and what fetches those that are missing. */
export function toolsIn(cache: string) {
  const npm = `${cache}/npm`
  const python = `${cache}/python`
  const jar = `${cache}/openapi-generator-cli-${GENERATOR_VERSION}.jar`
  const manifest = JSON.stringify({ private: true, type: 'module', dependencies: NPM_PACKAGES })
  const artifact = `org.openapitools:openapi-generator-cli:${GENERATOR_VERSION}`
  const copy = [
    `-Dartifact=${artifact}`,
    `-DoutputDirectory=${cache}`,
    '-Dmdep.useBaseVersion=true',
  ]
  return {
    npm,
    python,
    jar,
    manifest,
    fetch: {
      npm: [['npm', 'install', '--no-audit', '--no-fund', '--silent', '--prefix', npm]],
      python3: [
        ['python3', '-m', 'venv', python],
        [`${python}/bin/pip`, 'install', '--quiet', ...PYTHON_PACKAGES],
      ],
      mvn: [['mvn', '--quiet', '--batch-mode', `${DEPENDENCY_PLUGIN}:copy`, ...copy]],
    } satisfies Readonly<Record<string, readonly Step[]>>,
  }
}

export function generatorsWith(tools: Tools): readonly Generator[] {
  return [...typescriptGenerators(tools), pythonClient(tools), ...openApiGenerators(tools)]
}

function typescriptGenerators({ npm }: Tools): readonly Generator[] {
  const bin = `${npm}/node_modules/.bin`
  const compile = [[`${bin}/tsc`, ...TSC, ...TSC_MORE, 'main.ts']]
  const run = [process.execPath, 'main.ts']
  return [
    {
      name: 'openapi-typescript with openapi-fetch',
      needs: ['node', 'npm'],
      program: ['openapi-fetch.ts', 'main.ts'],
      generate: [[`${bin}/openapi-typescript`, 'openapi.json', '--output', 'api.ts']],
      compile,
      run,
    },
    {
      name: '@hey-api/openapi-ts',
      needs: ['node', 'npm'],
      program: ['hey-api.ts', 'main.ts'],
      generate: [[`${bin}/openapi-ts`, '--input', 'openapi.json', '--output', 'api']],
      compile,
      run,
    },
  ]
}

function pythonClient({ python }: Tools): Generator {
  const options = ['--path', 'openapi.json', '--output-path', 'api', '--meta', 'none']
  const config = ['--config', 'config.json']
  return {
    name: 'openapi-python-client',
    needs: ['python3'],
    program: ['openapi-python-client.py', 'main.py'],
    generate: [[`${python}/bin/openapi-python-client`, 'generate', ...options, ...config]],
    compile: [[`${python}/bin/mypy`, '--no-error-summary', 'main.py', 'api']],
    run: [`${python}/bin/python`, 'main.py'],
  }
}

function openApiGenerators({ jar, npm, python }: Tools): readonly Generator[] {
  const generate = (language: string, ...options: readonly string[]): readonly Step[] => {
    const files = ['--input-spec', 'openapi.json']
    return [['java', '-jar', jar, 'generate', '--generator-name', language, ...files, ...options]]
  }
  const withoutTests = 'apiTests=false,modelTests=false,apiDocs=false,modelDocs=false'
  const here = ['--output', '.', '--global-property', withoutTests]
  const names = '--git-host example.com --git-user-id hookline --git-repo-id client'.split(' ')
  const classpath = `${DEPENDENCY_PLUGIN}:build-classpath`
  return [
    {
      name: 'openapi-generator python',
      needs: ['java', 'mvn', 'python3'],
      program: ['openapi-generator.py', 'main.py'],
      generate: generate('python', ...here),
      compile: [[`${python}/bin/python`, '-m', 'compileall', '-q', 'openapi_client', 'main.py']],
      run: [`${python}/bin/python`, 'main.py'],
    },
    {
      name: 'openapi-generator typescript-fetch',
      needs: ['java', 'mvn', 'node', 'npm'],
      program: ['typescript-fetch.ts', 'main.ts'],
      generate: generate('typescript-fetch', '--output', 'api'),
      compile: [[`${npm}/node_modules/.bin/tsc`, ...TSC, ...TSC_MORE, 'main.ts']],
      run: [process.execPath, 'main.ts'],
    },
    {
      name: 'openapi-generator go',
      needs: ['java', 'mvn', 'go'],
      program: ['main.go', 'check/main.go'],
      generate: generate('go', ...here, ...names),
      compile: [
        ['go', 'mod', 'tidy'],
        ['go', 'vet', './...'],
        ['go', 'build', '-o', 'main', './check'],
      ],
      run: ['./main'],
    },
    {
      name: 'openapi-generator java (native)',
      needs: ['java', 'mvn'],
      program: ['Main.java', 'src/main/java/Main.java'],
      // Else each parameter that an operation gains later breaks the calls of programs, and a list that is
      // left out is sent empty.
      generate: generate(
        'java',
        '--library',
        'native',
        '--additional-properties',
        'useSingleRequestParameter=true,containerDefaultToNull=true',
        ...here,
      ),
      compile: [
        ['mvn', '--quiet', '--batch-mode', 'compile', classpath, '-Dmdep.outputFile=classpath.txt'],
      ],
      run: ['sh', '-c', 'exec java -cp "target/classes:$(cat classpath.txt)" Main'],
    },
  ]
}
