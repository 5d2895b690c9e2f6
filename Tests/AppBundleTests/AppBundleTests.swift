import FerryAppBundle
import Testing
